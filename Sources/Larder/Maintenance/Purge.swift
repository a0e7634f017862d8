import LMDB
import LarderSystem

extension Store {
  /// Removes every expired entry, then reclaims the space of cleared namespaces and repairs namespaces in which damage was
  /// found.
  ///
  /// O(namespaces + expired entries); O(1) when nothing is due. It works in transactions of 500 entries, between which
  /// other writers get their turn.
  ///
  /// If the clock is more than a day ahead of the last write or purge, and the process was not running all that time,
  /// nothing is removed and ``RemovalResult/skippedAfterClockJump`` is set. A second purge at least a minute later removes
  /// what has expired by that clock. So a clock that jumps for a moment costs nothing.
  ///
  /// - Returns: exactly how many entries were removed, and the bytes of their values.
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try Purge(engine).run()
  }

  /// Purges all namespaces or one.
  ///
  /// - Parameter shouldContinue: called between transactions with the result so far; false ends the purge.
  package func purge(
    only namespace: Store.Namespace?, while shouldContinue: (RemovalResult) -> Bool
  ) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try Purge(engine).run(only: namespace?.name, while: shouldContinue)
  }
}

/// Removes expired entries, and entries of cleared namespaces, in bounded transactions.
struct Purge {
  static let perBatch = 500
  private let engine: StoreEngine

  init(_ engine: StoreEngine) { self.engine = engine }

  func run(
    only namespace: String? = nil, while shouldContinue: (RemovalResult) -> Bool = { _ in true }
  ) throws(LarderError) -> RemovalResult {
    try engine.flushAccessTimes()
    var total = RemovalResult()
    var position: ExpirySweep.Position?
    repeat {
      let (removal, reached) = try engine.commit(.cleanup) { batch in
        try batch.purge(limit: Self.perBatch, after: position, only: namespace)
      }
      total += removal
      position = reached
      guard shouldContinue(total) else { return total }
    } while position != nil
    _ = try reclaim { shouldContinue(total) }
    if namespace == nil { _ = try RepairJob(engine).run { shouldContinue(total) } }
    return total
  }

  /// Removes the entries of cleared namespaces; returns how many.
  func reclaim(while shouldContinue: () -> Bool) throws(LarderError) -> Int {
    var total = 0
    while true {
      let reclaimed = try engine.commit { batch in try batch.reclaim(limit: Self.perBatch) }
      total += reclaimed
      if reclaimed == 0 || !shouldContinue() { return total }
    }
  }
}

extension WriteBatch {
  /// Removes expired entries among the next `limit` of the expiry index.
  ///
  /// - Returns: the result, and the place behind which to go on; nil when nothing that is due is left.
  mutating func purge(
    limit: Int, after position: ExpirySweep.Position?, only namespace: String?
  ) throws(LarderError) -> (removal: RemovalResult, reached: ExpirySweep.Position?) {
    guard trustsClock() else {
      var removal = RemovalResult()
      removal.skippedAfterClockJump = true
      return (removal, nil)
    }
    var id: NamespaceID?
    if let namespace {
      guard let found = try writer.namespace(namespace) else { return (RemovalResult(), nil) }
      id = found.id
    }
    var sweep = ExpirySweep(of: id, limit: limit, after: position)
    let removal = try sweep.runStep(limit: limit, &writer)
    writer.recordWriteTime()
    return (removal, sweep.isDone ? nil : sweep.position)
  }

  mutating func reclaim(limit: Int) throws(LarderError) -> Int {
    try GarbageCollector.reclaim(limit: limit, &writer)
  }

  /// Whether the wall clock is plausible. A first doubt is recorded in the store.
  private mutating func trustsClock() -> Bool {
    let (state, now) = (writer.state, writer.now)
    let day: Int64 = 86_400_000
    let opened = writer.engine.opened
    let monotonic = writer.engine.clock.monotonic.milliseconds
    let newest = Int64(clamping: state.lastStamp)
    // The part of the gap in which the monotonic clock of this process advanced as well is no jump.
    // A clock of the program may go back, against its contract.
    let sinceOpening = max(0, monotonic &- opened.monotonic.milliseconds)
    let sinceStamp = opened.now.duration(to: Timestamp(milliseconds: newest)).milliseconds
    let watched = max(0, sinceOpening - max(0, sinceStamp))
    let gap = Timestamp(milliseconds: newest).duration(to: now).milliseconds
    var suspectSince: UInt64 = 0
    defer { writer.updateStore { $0.suspectSince = suspectSince } }
    if newest == 0 || gap <= day || gap - watched <= day { return true }
    // The stored time is one too large, because 0 stands for no doubt.
    let doubt = Int64(clamping: state.suspectSince)
    let since = doubt - 1
    if doubt != 0, monotonic >= since, monotonic - since >= 60_000 { return true }
    // A restart of the machine resets the monotonic clock, and then the minute begins again.
    let isFirst = doubt == 0 || monotonic < since
    suspectSince = isFirst ? UInt64(clamping: monotonic) &+ 1 : state.suspectSince
    return false
  }
}

/// Removes the entries of cleared namespaces in bounded steps: clearing only gives a namespace another id.
enum GarbageCollector {
  /// How many entries a write removes beside its own work.
  static let perWrite = 32

  /// Removes up to `limit` entries; returns how many it was.
  @discardableResult
  static func reclaim(limit: Int, _ writer: inout EntryWriter) throws(LarderError) -> Int {
    var reclaimed = 0
    while reclaimed < limit, writer.state.garbage > 0 {
      guard let id = try writer.firstGarbage() else {
        writer.updateStore { $0.garbage = 0 }
        break
      }
      let entryKeys = try writer.entryKeys(of: id, limit: limit - reclaimed)
      var damaged: Set<[UInt8]> = []
      for entryKey in entryKeys {
        if case .entry(let entry) = try writer.contents(of: entryKey) {
          try writer.erase(entry)
        } else {
          damaged.insert(entryKey)
          try writer.withTransaction { transaction throws(LarderError) in
            _ = try transaction.remove(entryKey, from: .entries)
          }
        }
      }
      try writer.dropTags(of: damaged)
      reclaimed += entryKeys.count
      if reclaimed < limit { try writer.dropGarbage(id) }
    }
    return reclaimed
  }
}

extension EntryWriter {
  fileprivate mutating func firstGarbage() throws(LarderError) -> NamespaceID? {
    let seal = engine.seal
    return try withTransaction { transaction throws(LarderError) in
      for key in try transaction.keys(in: .main, from: MetadataKey.garbage) {
        // A damaged record must not have the entries of another namespace removed.
        if let record = try transaction.copy(of: key, in: .main),
          seal.open(record.span, for: key) != nil, let id = MetadataKey.id(of: key.span)
        {
          return id
        }
        try transaction.remove(key, from: .main)
      }
      return nil
    }
  }

  fileprivate mutating func entryKeys(
    of id: NamespaceID, limit: Int
  ) throws(LarderError) -> [[UInt8]] {
    try withTransaction { transaction throws(LarderError) in
      try transaction.keys(in: .entries, from: id.prefix, limit: limit)
    }
  }

  /// Removes what damaged entries of a cleared namespace have left in the indexes, and the id itself: another namespace may
  /// get it.
  fileprivate mutating func dropGarbage(_ id: NamespaceID) throws(LarderError) {
    let prefix = id.prefix
    let indexes = engine.indexes
    dropCounters(of: id)
    try flushIndexes()
    try withTransaction { transaction throws(LarderError) in
      for database in [indexes.deadlines, indexes.queue, indexes.chunks] {
        try transaction.remove(try transaction.keys(in: database, from: prefix), from: database)
      }
      try transaction.remove(MetadataKey.garbage(id), from: .main)
      try transaction.remove(MetadataKey.counters(id), from: .main)
    }
    updateStore { $0.garbage -= min($0.garbage, 1) }
  }
}
