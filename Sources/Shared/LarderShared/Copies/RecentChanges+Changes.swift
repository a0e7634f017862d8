import Larder
import LarderSystem

extension RecentChanges {
  /// The slot of a key, of a namespace, or of a tag; nil for no data.
  static func slot(of subject: LogRecord.Subject) -> Int? {
    switch subject {
    case .nothing: nil
    case .key(let key): slot(key.bytes, seed: Checksum.of(Array(key.namespace.utf8), seed: 1))
    case .namespace(let name): slot(Array(name.utf8), seed: 2)
    case .tag(let tag): slot(Array(tag.utf8), seed: 3)
    }
  }

  private static func slot(_ bytes: [UInt8], seed: UInt64) -> Int {
    firstSlot + Int(Checksum.of(bytes, seed: seed) % UInt64(slots))
  }

  /// Notes a change in its slot. All data of a slot share its newest position, so values of other data may be refused.
  func note(_ subject: LogRecord.Subject, at position: Position) {
    let view = words.view
    guard view.isWritable, let slot = Self.slot(of: subject) else { return }
    let word = position.word
    var known = view.acquire(slot)
    while known < word, !view.exchange(known, for: word, at: slot) { known = view.acquire(slot) }
  }

  /// Whether every known change of the subjects is at the position or before it. Without the file, the result is false.
  func isCurrent(_ subjects: [LogRecord.Subject], at position: Position) -> Bool {
    let view = words.view
    guard view.count > 0 else { return false }
    let word = position.word
    for slot in subjects.compactMap(Self.slot(of:)) {
      let change = view.acquire(slot)
      if change > word || change == word && position.isBeyondWord { return false }
    }
    return true
  }

  /// The content of a new file: no slot has a change.
  static let none = [UInt64](repeating: 0, count: slots)

  var changes: [UInt64] {
    let view = words.view
    guard view.count > 0 else { return [] }
    return (Self.firstSlot..<Self.firstSlot + Self.slots).map { view.acquire($0) }
  }

  /// Replaces the changes of a lost history with the position at which another history begins, but keeps the changes after the
  /// read of `noted`. So a value from a server that still has the lost history is refused.
  func replace(_ noted: [UInt64], with position: Position) {
    let view = words.view
    guard view.isWritable else { return }
    for (index, known) in noted.enumerated() {
      _ = view.exchange(known, for: position.word, at: Self.firstSlot + index)
    }
  }
}
