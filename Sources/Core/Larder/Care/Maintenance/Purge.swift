extension Store {
  /// Removes every expired entry, then reclaims the space of cleared namespaces and repairs namespaces with damage.
  ///
  /// O(namespaces + expired entries); O(1) if no entry is due. Between transactions of at most 500 entries, other writes run.
  ///
  /// A clock that has jumped ahead must not make the purge remove entries. So a time more than a day after the last write or
  /// purge is suspect. Time during which this process had the store open does not count. With a suspect time, the purge removes
  /// no expired entry and sets ``RemovalResult/skippedAfterClockJump``. A second purge at least a minute later accepts the
  /// time, and removes the entries. Writes with a suspect time do not make a purge accept the time.
  ///
  /// - Returns: the exact number of removed entries, and the bytes of their values.
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  @discardableResult
  public func purge() throws(LarderError) -> RemovalResult { try purge(only: nil) { _ in true } }

  /// Purges one namespace, or all. Between transactions, calls `shouldContinue` with the result so far; false stops the purge.
  package func purge(
    only namespace: Store.Namespace?, while shouldContinue: (RemovalResult) -> Bool
  ) throws(LarderError) -> RemovalResult {
    try checkWritable()
    let purge = Purge(engine: engine)
    let total = try purge.removeExpired(only: namespace?.name, while: shouldContinue)
    guard shouldContinue(total) else { return total }
    _ = try purge.reclaim { shouldContinue(total) }
    if namespace == nil { _ = try RepairJob(engine: engine).run { shouldContinue(total) } }
    return total
  }

  /// Removes the entries of cleared namespaces, because a compaction would copy these entries.
  package func reclaim(while shouldContinue: () -> Bool) throws(LarderError) {
    _ = try Purge(engine: engine).reclaim(while: shouldContinue)
  }
}

struct Purge {
  static let perBatch = 500
  let engine: StoreEngine

  func removeExpired(
    only namespace: String? = nil, while shouldContinue: (RemovalResult) -> Bool
  ) throws(LarderError) -> RemovalResult {
    try engine.flushAccessTimes()
    var total = RemovalResult()
    var position: ExpirySweep.Due?
    repeat {
      let (removal, reached) = try engine.commit(.withoutCleanup) { batch in
        try step(after: position, only: namespace, &batch.session)
      }
      total += removal
      position = reached
    } while position != nil && shouldContinue(total)
    return total
  }

  func reclaim(while shouldContinue: () -> Bool) throws(LarderError) -> Int {
    var total = 0
    while true {
      let reclaimed = try engine.commit { batch in
        try GarbageCollector.reclaim(
          limit: min(Self.perBatch, batch.session.removalsInOwnBatch), &batch.session)
      }
      total += reclaimed
      if reclaimed == 0 || !shouldContinue() { return total }
    }
  }

  /// Purges the next entries of the expiry index. `reached` is nil after the last entry, or if the time is suspect.
  func step(
    after position: ExpirySweep.Due?, only namespace: String?, _ session: inout WriteSession
  ) throws(LarderError) -> (removal: RemovalResult, reached: ExpirySweep.Due?) {
    guard session.recordPurgeTime() else {
      var removal = RemovalResult()
      removal.skippedAfterClockJump = true
      return (removal, nil)
    }
    var id: NamespaceID?
    if let namespace {
      id = try session.namespace(namespace)?.id
      if id == nil { return (RemovalResult(), nil) }
    }
    let limit = min(Self.perBatch, session.removalsInOwnBatch)
    var sweep = ExpirySweep(of: id, limit: limit, after: position)
    let removal = try sweep.run(&session)
    return (removal, sweep.isDone ? nil : sweep.position)
  }
}
