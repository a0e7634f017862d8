import Larder
import LarderSystem

/// The file `shared` of a store: what all processes know about the tier, readable without locks and lookups. If the file is lost,
/// no value of the tier is kept, and no copy is confirmed.
struct RecentChanges: Sendable {
  /// The words of the file before the slots. Each slot has the position of the newest change of its data.
  private enum Word: Int {
    /// The end of the lease of the process that reads the log, in milliseconds of the machine's monotonic clock.
    case readerUntil
    /// The end of the time for which copies are confirmed, by two clocks: only the wall clock runs during a suspension.
    case trustedUntil
    case trustedUntilWall
    /// The position of the last applied record, and of the newest seen record.
    case applied
    case head
    case reader
    /// 1 while a process removes the copies that must not be confirmed.
    case regainingTrust
    /// A hash of the application whose log is read.
    case application
  }

  static let firstSlot = 8
  static let slots = 8192
  private static let count = 2 * (firstSlot + slots)
  /// How long a machine trusts its copies after it has received all changes.
  static let trust = Duration.seconds(2)
  /// ``trust`` in milliseconds.
  private static let mostTrust: Int64 = 2000
  /// The duration of the reader's lease. The reader renews it with each look at the log.
  static let lease = Duration.seconds(1)

  let words: SharedTable
  /// The hash of the caller's application; nil for a caller that only reads the status.
  private let application: UInt64?

  /// - Parameter application: nil for a reader of the status. No file is made then, because the store may not be writable.
  init(_ store: Store, of application: String?) {
    self.application = application.map { Checksum.of(Array($0.utf8), seed: 6) }
    words = store.sharedWords(layout: 2, count: Self.count)
    open(makesFile: application != nil && !store.isReadOnly)
  }

  /// Maps the file, unless it is mapped. An earlier attempt may have failed, for example because the disk was full.
  func open(makesFile: Bool) {
    let view = words.view
    if makesFile {
      if !view.isWritable { words.open(making: Self.count) }
    } else if view.count == 0 {
      words.openForReading()
    }
  }

  // MARK: Trust

  enum Standing {
    /// Every change that was made up to two seconds ago was applied.
    case confirmed
    /// Changes may be missing, but for less time than ``SharedOptions/unconfirmedLimit``: copies are still used.
    case unconfirmed
    /// Copies are used only if a load fails.
    case disconnected
  }

  /// How far the copies that a later lookup finds are current. `now` is rounded up, so that no copy is trusted for too long.
  func standing(at now: (monotonic: Int64, wall: Int64), limit: Duration) -> Standing {
    let view = words.view
    guard view.count > 0 else { return .disconnected }
    // The file is about another application, for example after a change of the application's name, so no copy is trusted.
    if let application, view.acquire(Word.application.rawValue) != application {
      return .disconnected
    }
    let left = Int64(bitPattern: view.acquire(Word.trustedUntil.rawValue)) &- now.monotonic
    let leftWall = Int64(bitPattern: view.acquire(Word.trustedUntilWall.rawValue)) &- now.wall
    // No process writes a longer time, so a longer time means an earlier boot of the machine, or a clock that was set back.
    let most = Self.mostTrust
    if left > 0, left <= most, leftWall > 0, leftWall <= most { return .confirmed }
    let limit = max(limit.truncatedMilliseconds, 0)
    return left <= most && left > -limit && leftWall > -limit ? .unconfirmed : .disconnected
  }

  /// Notes that all changes before this time were applied.
  func confirm(monotonic: Duration, wall: Timestamp) {
    guard let application else { return }
    release(application, to: .application)
    release(UInt64(bitPattern: (monotonic + Self.trust).truncatedMilliseconds), to: .trustedUntil)
    release(UInt64(bitPattern: wall.advanced(by: Self.trust).milliseconds), to: .trustedUntilWall)
  }

  /// Whether a process is confirming the copies now. Without the file nothing is known, so the result is true.
  var isRegainingTrust: Bool {
    let view = words.view
    return view.count == 0 || view.acquire(Word.regainingTrust.rawValue) != 0
  }

  func setRegainingTrust(_ isRegaining: Bool) { release(isRegaining ? 1 : 0, to: .regainingTrust) }

  private func release(_ value: UInt64, to word: Word) {
    let view = words.view
    if view.isWritable { view.release(value, to: word.rawValue) }
  }

  func revokeTrust() {
    release(0, to: .trustedUntil)
    release(0, to: .trustedUntilWall)
  }

  // MARK: The reader's lease

  /// Takes or renews the lease. `held` is the word that the caller wrote last; nil if the caller has no lease.
  ///
  /// - Returns: the new word; nil if another process has the lease, or if the file is missing.
  func lead(_ held: UInt64?, at now: Duration, process: Int32) -> UInt64? {
    let view = words.view
    guard view.isWritable else { return nil }
    let present = view.acquire(Word.readerUntil.rawValue)
    let left = Int64(bitPattern: present) &- now.truncatedMilliseconds
    if present != held, left > 0, left <= Self.lease.truncatedMilliseconds { return nil }
    let next = UInt64(bitPattern: (now + Self.lease).truncatedMilliseconds)
    guard view.exchange(present, for: next, at: Word.readerUntil.rawValue) else { return nil }
    view.store(UInt64(UInt32(bitPattern: process)), wide: Word.reader.rawValue)
    return next
  }

  func resign(_ held: UInt64) {
    let view = words.view
    if view.isWritable { _ = view.exchange(held, for: 0, at: Word.readerUntil.rawValue) }
  }

  /// The process that reads the log; nil if no process reads it.
  func reader(at now: Duration) -> Int32? {
    let view = words.view
    guard view.count > 0 else { return nil }
    let left = Int64(bitPattern: view.wide(Word.readerUntil.rawValue)) &- now.truncatedMilliseconds
    guard left > 0, left <= Self.lease.truncatedMilliseconds else { return nil }
    return Int32(bitPattern: UInt32(truncatingIfNeeded: view.wide(Word.reader.rawValue)))
  }

  // MARK: Positions

  var applied: Position { position(.applied) }
  var head: Position { position(.head) }

  private func position(_ word: Word) -> Position {
    let view = words.view
    return view.count == 0 ? .zero : Position(word: view.acquire(word.rawValue))
  }

  func publish(applied: Position, head: Position?) {
    release(applied.word, to: .applied)
    if let head { release(head.word, to: .head) }
  }
}
