import Dispatch
import LMDB

extension StoreEngine {
  /// How many entries, and how many bytes of them, one write gives new ends because they were used.
  static let usesPerWrite = (entries: 64, bytes: 256 << 10)
  static let usesPerFlush = (entries: 1000, bytes: 8 << 20)
  /// The longest that a use waits for a write, in milliseconds.
  private static let lockTimeout: Int64 = 1000

  /// A hit of an entry that stays for a while after its last use. Never waits for a writer.
  @inline(never)
  func noteUse(
    _ header: EntryHeader, _ idle: IdleInterval, key: Span<UInt8>, id: NamespaceID, at now: Int64
  ) {
    guard now >= idle.due(end: header.expires) else { return }
    let use = PendingAccesses.Use(
      slot: StoredKey.entry(key, in: id), version: header.version, moment: now)
    // Early enough for use that comes again after the whole interval, and before the end.
    let soon = min(idle.milliseconds / 64, max(0, header.expires &- now) / 2, Self.lockTimeout)
    guard let delay = uses.add(use, delay: soon) else { return }
    timer(.milliseconds(delay)) { [weak self] in self?.timerEnded() }
  }

  private func timerEnded() {
    uses.timerEnded()
    guard environment.isOpen else { return }
    do throws(LarderError) {
      try flushAccessTimes()
    } catch {
      // What could not be written goes on waiting. The next write or close meets the same and has somebody to tell.
    }
  }

  /// Gives every entry that was used until now its new end, as far as the data file's limit leaves room for that.
  func flushAccessTimes(waitingAtMost bound: Duration? = nil) throws(LarderError) {
    var left = uses.count
    var tries = 0
    while left > 0, tries < 3 {
      let done = try write(waitingAtMost: bound) { batch in
        let done = try batch.flushAccessTimes(
          entries: Self.usesPerFlush.entries, bytes: Self.usesPerFlush.bytes)
        // Pages that were freed before can be used again two commits later.
        if done == 0 { batch.age() }
        return done
      }
      tries = done == 0 ? tries + 1 : 0
      left = min(left - done, uses.count)
    }
  }

  /// The header with the end that it gets from use not put down yet.
  func current(_ header: EntryHeader, idle: IdleInterval?, slot: [UInt8]) -> EntryHeader {
    guard let idle, let use = uses.pending(slot), use.version == header.version else {
      return header
    }
    let end = idle.end(after: use.moment)
    guard end > header.expires else { return header }
    var current = header
    current.expires = end
    current.staleUntil = Lifetime.late(end, stale: header.stale ?? .zero)
    return current
  }

  /// Runs something once, on a thread of the system's.
  @Sendable static func later(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .utility).asyncAfter(
      deadline: .now() + .milliseconds(Int(clamping: delay.milliseconds)), execute: body)
  }
}

extension WriteBatch {
  /// Puts some of what waits down beside what the batch is made for. Where the data file has a limit, that is left to
  /// transactions of their own: none must fail for it.
  mutating func flushSomeAccessTimes() throws(LarderError) {
    guard disk == nil else { return }
    let most = StoreEngine.usesPerWrite
    try flushAccessTimes(entries: most.entries, bytes: most.bytes)
  }

  /// Gives entries new ends that reads of this process have used; returns how many it looked at.
  ///
  /// An entry that has come to its end since it was used lives on, if nobody has removed it yet.
  @discardableResult
  mutating func flushAccessTimes(entries: Int, bytes: Int) throws(LarderError) -> Int {
    var taken = engine.uses.take(entries)
    var size = 0
    var done = 0
    while done < taken.count, size < bytes {
      guard let written = try putDown(taken[done]) else { break }
      size += written
      done += 1
    }
    engine.uses.finish(Array(taken[done...]), done: false)
    taken.removeLast(taken.count - done)
    using += taken
    return done
  }

  /// Returns how many bytes it wrote; nil if the data file's limit leaves too few pages for it in this batch.
  private mutating func putDown(_ use: PendingAccesses.Use) throws(LarderError) -> Int? {
    guard case .entry(let entry) = try occupant(of: use.slot),
      entry.header.version == use.version, try isLive(entry.id)
    else { return 0 }
    guard spend(entry.recordCount) else { return nil }
    return try extend(entry, usedAt: min(use.moment, now.milliseconds)) ? entry.recordCount : 0
  }

  /// Takes pages for a record from what the data file's limit leaves; false if there are too few.
  private mutating func spend(_ bytes: Int) -> Bool {
    guard var room = disk else { return true }
    room.spend(pages: bytes > engine.pageSize / 2 ? pages(ofRecord: bytes) : 0, stored: bytes)
    guard room.spent + DiskRoom.kept <= room.available else { return false }
    disk = room
    return true
  }

  /// Gives an entry that stays for a while after its last use the end that follows from use at a moment.
  @discardableResult
  mutating func extend(_ entry: StoredEntry, usedAt moment: Int64) throws(LarderError) -> Bool {
    guard entry.header.flags.contains(.idle), let idle = entry.fields.idle,
      moment >= idle.due(end: entry.header.expires)
    else { return false }
    let end = idle.end(after: moment)
    return try reschedule(
      entry, expires: end,
      staleUntil: Lifetime.late(end, stale: entry.header.stale ?? .zero), idle: idle)
  }
}
