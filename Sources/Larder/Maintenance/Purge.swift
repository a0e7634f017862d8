import LMDB

extension Store {
  /// Removes every expired entry and returns exactly how many it was; then reclaims what clearing has left.
  ///
  /// O(namespaces + expired), and O(1) when nothing is due. It works in batches of 500 and lets other writers in between.
  /// When the clock is more than a day past the newest write or purge, and no time passed that would explain it, nothing
  /// is removed and ``RemovalResult/skippedAfterClockJump`` is set; a purge at least a minute later goes ahead. A clock that jumped for a
  /// moment then costs nothing.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try engine.purge(only: nil)
  }

  /// Purges like ``purge()``, or one namespace, for as long as `shouldContinue` says between batches, which is told what was
  /// removed so far.
  package func purge(
    only namespace: Store.Namespace?, while shouldContinue: (RemovalResult) -> Bool
  ) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try engine.purge(only: namespace, while: shouldContinue)
  }
}

extension StoreEngine {
  static let purgedPerBatch = 500

  /// Purges everything or one namespace, and asks between batches whether to go on.
  ///
  /// Returns what was removed until then. What clearing has left is reclaimed only if nobody objected.
  func purge(
    only namespace: Store.Namespace?, while shouldContinue: (RemovalResult) -> Bool = { _ in true }
  ) throws(LarderError) -> RemovalResult {
    try flushAccessTimes()
    var total = RemovalResult()
    var position: [UInt8]?
    repeat {
      let (removal, reached) = try write { batch in
        batch.leavesQueue = true
        return try batch.purge(
          limit: Self.purgedPerBatch, behind: position, only: namespace?.name)
      }
      total += removal
      position = reached
      guard shouldContinue(total) else { return total }
    } while position != nil
    _ = try reclaim { shouldContinue(total) }
    return total
  }

  /// Removes the entries of cleared namespaces for good; returns how many it was until somebody objected.
  func reclaim(while shouldContinue: () -> Bool) throws(LarderError) -> Int {
    var total = 0
    while true {
      let reclaimed = try write { batch in try batch.reclaim(limit: Self.purgedPerBatch) }
      total += reclaimed
      if reclaimed == 0 || !shouldContinue() { return total }
    }
  }
}

extension WriteBatch {
  /// Removes what is due among the next `limit` records of the deadline index, and gives entries whose end has moved
  /// later their record anew. Returns where to go on, nil at the end of what is due.
  mutating func purge(
    limit: Int, behind position: [UInt8]?, only namespace: String?
  ) throws(LarderError) -> (removal: RemovalResult, reached: [UInt8]?) {
    guard trustsClock() else {
      var removal = RemovalResult()
      removal.skippedAfterClockJump = true
      return (removal, nil)
    }
    var only: NamespaceID?
    if let namespace {
      guard let record = try record(named: namespace) else { return (RemovalResult(), nil) }
      only = record.id
    }
    let (removal, reached) = try removeDue(in: only, limit: limit, behind: position)
    stamp()
    return (removal, reached)
  }

  /// Whether the wall clock can be believed about what has expired; notes a first doubt in the store.
  private mutating func trustsClock() -> Bool {
    let day: Int64 = 86_400_000
    let monotonic = engine.clock.monotonic.milliseconds
    let newest = Int64(clamping: state.lastStamp)
    // The part of the gap in which this process saw the monotonic clock advance as well is no jump.
    let sinceOpening = monotonic - engine.opened.monotonic.milliseconds
    let sinceStamp = engine.opened.now.duration(to: Timestamp(milliseconds: newest)).milliseconds
    let watched = max(0, sinceOpening - max(0, sinceStamp))
    let gap = Timestamp(milliseconds: newest).duration(to: now).milliseconds
    if newest == 0 || gap <= day || gap - watched <= day {
      state.suspectSince = 0
      return true
    }
    // Kept one too large, because 0 stands for no doubt.
    let doubt = Int64(clamping: state.suspectSince)
    let since = doubt - 1
    if doubt != 0, monotonic >= since, monotonic - since >= 60_000 {
      state.suspectSince = 0
      return true
    }
    // A boot begins the monotonic clock anew: then the doubt begins anew too.
    if doubt == 0 || monotonic < since { state.suspectSince = UInt64(clamping: monotonic) &+ 1 }
    return false
  }
}
