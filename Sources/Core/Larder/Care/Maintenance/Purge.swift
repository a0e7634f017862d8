import LMDB
import LarderSystem

extension Store {
  /// Removes every expired entry, then reclaims the space of cleared namespaces and repairs namespaces in which damage was
  /// found.
  ///
  /// O(namespaces + expired entries); O(1) when nothing is due. It works in transactions of 500 entries, between which
  /// other writers get their turn.
  ///
  /// A clock more than a day ahead of the last write or purge is doubted, unless the process was running all that time. Then
  /// nothing is removed and ``RemovalResult/skippedAfterClockJump`` is set. A second purge at least a minute later removes the
  /// entries that have expired by that clock. So a clock that jumps for a moment costs nothing.
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
    let total = try removeExpired(only: namespace, while: shouldContinue)
    guard shouldContinue(total) else { return total }
    _ = try reclaim { shouldContinue(total) }
    if namespace == nil { _ = try RepairJob(engine).run { shouldContinue(total) } }
    return total
  }

  /// Removes expired entries of all namespaces, or of one.
  func removeExpired(
    only namespace: String? = nil, while shouldContinue: (RemovalResult) -> Bool
  ) throws(LarderError) -> RemovalResult {
    try engine.flushAccessTimes()
    var total = RemovalResult()
    var position: ExpirySweep.Position?
    repeat {
      let (removal, reached) = try engine.commit(.withoutCleanup) { batch in
        try batch.purge(limit: Self.perBatch, after: position, only: namespace)
      }
      total += removal
      position = reached
    } while position != nil && shouldContinue(total)
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
    guard checkClock() else {
      var removal = RemovalResult()
      removal.skippedAfterClockJump = true
      return (removal, nil)
    }
    var id: NamespaceID?
    if let namespace {
      guard let found = try writer.directory.find(namespace, &writer.context) else {
        return (RemovalResult(), nil)
      }
      id = found.id
    }
    var sweep = ExpirySweep(of: id, limit: limit, after: position)
    let removal = try sweep.runStep(limit: limit, &writer)
    writer.context.counters.recordWriteTime(writer.context.now)
    return (removal, sweep.isDone ? nil : sweep.position)
  }

  mutating func reclaim(limit: Int) throws(LarderError) -> Int {
    try GarbageCollector.reclaim(limit: limit, &writer)
  }

  /// Whether the wall clock is plausible; records the first doubt in the store, and the end of one.
  private mutating func checkClock() -> Bool {
    let (state, now) = (writer.context.state, writer.context.now)
    let day: Int64 = 86_400_000
    let opened = writer.context.engine.opened
    let monotonic = writer.context.engine.clock.monotonic.roundedUpMilliseconds
    let lastStamp = Timestamp(milliseconds: Int64(clamping: state.lastStamp))
    // The part of the gap in which the monotonic clock of this process advanced as well is no jump.
    // A clock of the program may go back, against its contract.
    let sinceOpening = max(0, monotonic &- opened.monotonic.roundedUpMilliseconds)
    let sinceStamp = opened.now.duration(to: lastStamp).roundedUpMilliseconds
    let seenPassing = max(0, sinceOpening - max(0, sinceStamp))
    let gap = lastStamp.duration(to: now).roundedUpMilliseconds
    var suspectSince: UInt64 = 0
    defer { writer.context.counters.updateStore { $0.suspectSince = suspectSince } }
    if state.lastStamp == 0 || gap <= day || gap - seenPassing <= day { return true }
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
