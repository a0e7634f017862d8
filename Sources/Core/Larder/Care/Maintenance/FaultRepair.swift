import LMDB
import LarderSystem

extension Store {
  /// Repairs the faults that ``verify()`` has found, in writes of at most 500 records. Other writes can run in between.
  ///
  /// Removes each index record that leads to no entry. Adds the missing index records of each undamaged entry. Removes each
  /// damaged entry. Then counts the entries again. O(entries of the namespaces with faults).
  ///
  /// - Returns: the faults that remain: faults of pages, of the store's limits, of names and rules, and of two namespaces with
  ///   one id. While such a fault remains, entries without a namespace remain, too, because the name of their namespace may be
  ///   unreadable. If a page is damaged, nothing is repaired: use ``salvage(from:to:options:)``.
  /// - Throws: ``LarderError/Code/invalidArgument`` for the faults of another store, ``LarderError/Code/readOnly``,
  ///   ``LarderError/Code/insideWrite``, or the error of a failed write. Earlier repairs remain.
  public func repair(_ found: Verification) throws(LarderError) -> [Verification.Inconsistency] {
    try repair(found) { _ in true }!
  }

  /// Like ``repair(_:)``. Between writes, calls `shouldContinue` with the number of repaired records. Returns nil after a stop.
  package func repair(
    _ found: Verification, while shouldContinue: @escaping (_ done: Int) -> Bool
  ) throws(LarderError) -> [Verification.Inconsistency]? {
    try checkWritable()
    guard found.store == engine.identity else {
      throw LarderError(
        .invalidArgument, "the faults are those of another store than \(engine.environment.path)",
        hint: "pass the result of verify() of this store")
    }
    var repair = FaultRepair(
      engine: engine, nextVersions: found.nextVersions, shouldContinue: shouldContinue)
    return try repair.run(found.faults)
  }
}

/// Repairs each ``Fault``. Another write may have changed a record after the check, so each write reads the record again.
struct FaultRepair {
  static let perCommit = 500
  let engine: StoreEngine
  let nextVersions: [NamespaceID: UInt64]
  let shouldContinue: (_ done: Int) -> Bool
  var done = 0

  mutating func run(
    _ faults: [Verification.Inconsistency]
  ) throws(LarderError) -> [Verification.Inconsistency]? {
    if faults.contains(where: { $0.kind == .pages }) { return faults }
    let areNamesKnown = faults.allSatisfy { $0.fault.isMendable }
    func stays(_ found: Verification.Inconsistency) -> Bool {
      switch found.fault {
      // The id may belong to a namespace whose record is damaged, so these faults stay if a name is unknown.
      case .orphanedEntries, .orphanedCounters, .damagedClearedRecord: !areNamesKnown
      default: !found.fault.isMendable
      }
    }
    let mendable = faults.filter { !stays($0) }
    if !mendable.isEmpty, try !mend(mendable) { return nil }
    return faults.filter(stays)
  }

  /// - Returns: false if the repair was stopped.
  private mutating func mend(_ faults: [Verification.Inconsistency]) throws(LarderError) -> Bool {
    for start in stride(from: 0, to: faults.count, by: Self.perCommit) {
      guard shouldContinue(done) else { return false }
      let some = faults[start...].prefix(Self.perCommit)
      try engine.commit(.withoutCleanup) { batch in
        for found in some {
          if let (part, key) = found.record {
            try mend(key, in: part, &batch.session)
          } else {
            try mendMetadata(found, &batch.session)
          }
        }
      }
      done += some.count
    }
    let areTagsLost = faults.contains { found in
      switch found.fault {
      case .damagedInvalidatedTag, .invalidatedTagCount: true
      default: false
      }
    }
    if areTagsLost, try !finishInvalidations() { return false }
    _ = try Purge(engine: engine).reclaim { shouldContinue(done) }
    _ = try RepairJob(engine: engine).run { shouldContinue(done) }
    guard shouldContinue(done) else { return false }
    try engine.commit(.withoutCleanup) { batch in try batch.session.recountStore() }
    return true
  }

  private func mend(
    _ key: [UInt8], in part: NamespaceRepair.Part, _ session: inout WriteSession
  ) throws(LarderError) {
    let namespaced = part == .tags ? IndexKey.tagged(key) ?? [] : key
    let id = namespaced.count < 4 ? NamespaceID.store : namespaced.span.namespaceID
    let repair = NamespaceRepair(id: id, indexes: engine.indexes)
    if part != .entries {
      try repair.drop([key], part, owners(ofChunk: key, in: id, &session), &session)
    } else if key.count > 4 {
      try repair.mendEntry(key, &session)
    } else {
      try session.transaction.remove(key, from: .entries)
    }
    if id != .store { try RepairMark.note(id, &session.transaction) }
  }

  /// A chunk without a value at the check still has no value if its version was used before the check, because no version is
  /// used twice. But if a write after the check has used the version, the chunk may belong to the new value.
  private func owners(
    ofChunk key: [UInt8], in id: NamespaceID, _ session: inout WriteSession
  ) throws(LarderError) -> NamespaceRepair.ChunkOwners {
    guard key.count == 16, try session.isLive(id) else {
      return NamespaceRepair.ChunkOwners(next: .max)
    }
    let version = key.span.bigEndian(at: 4) as UInt64
    let isUsed = try version < session.counters(of: id).next
    return NamespaceRepair.ChunkOwners(next: isUsed ? nextVersions[id] ?? 0 : .max)
  }

  private func mendMetadata(
    _ found: Verification.Inconsistency, _ session: inout WriteSession
  ) throws(LarderError) {
    switch found.fault {
    // After the check, another write may have created or removed a namespace with the id, so each case looks the id up again.
    case .orphanedEntries(let id, _), .orphanedCounters(let id): try session.listAsCleared(id)
    case .clearedInUse(let id, let name):
      guard try session.namespace(name)?.id == id else { return }
      try session.transaction.remove(MetadataKey.garbage(id), from: .main)
    case .damagedCountersKey(let key), .damagedClearedRecord(let key):
      try session.transaction.remove(key, from: .main)
      if let id = MetadataKey.id(of: key.span) { try session.listAsCleared(id) }
    case .usedVersion, .damagedCounters, .entryCount, .pinnedOrWindow:
      guard let name = found.namespace, let id = try session.namespace(name)?.id else { return }
      try session.update(id) { counters in
        if case .usedVersion(_, let used) = found.fault {
          counters.next = max(counters.next, used &+ 1)
        }
      }
      try RepairMark.note(id, &session.transaction)
    default: break
    }
  }

  /// Finishes all invalidations, which removes their records: a damaged record hides all entries with tags. False after a stop.
  private func finishInvalidations() throws(LarderError) -> Bool {
    while shouldContinue(done) {
      let areLeft = try engine.commit(.withoutCleanup) { batch in
        try batch.session.resumeFirstInvalidation(limit: Self.perCommit)
        return batch.session.state.tombstones > 0
      }
      if !areLeft { return true }
    }
    return false
  }
}

extension Fault {
  var isMendable: Bool {
    switch self {
    case .damagedRecord, .sharedID: false
    default: true
    }
  }
}

extension Verification.Inconsistency {
  /// The record that a repair checks again; nil if the fault is not repaired at one record of a namespace.
  var record: (part: NamespaceRepair.Part, key: [UInt8])? {
    switch fault {
    case .damaged(let part, let key), .dangling(let part, let key): (part: part, key: key)
    case .earlyDeadline: nil
    default: entryKey.map { (part: .entries, key: $0) }
    }
  }
}

extension WriteSession {
  fileprivate mutating func listAsCleared(_ id: NamespaceID) throws(LarderError) {
    guard try namespace(of: id) == nil else { return }
    let key = MetadataKey.garbage(id)
    try transaction.put(engine.seal.seal([], for: key), for: key, in: .main)
    ledger.updateStore { $0.garbage &+= 1 }
  }

  fileprivate mutating func recountStore() throws(LarderError) {
    try saveCounters()
    let seal = engine.seal
    let counted = try transaction.read { lmdb throws(LMDBError) in
      try StoreState.rebuilt(in: lmdb, seal: seal)
    }
    ledger.updateStore { state in
      // The new generation makes every process read the record again, even if the rest is unchanged.
      state.generation &+= 1
      (state.entries, state.bytes, state.stored) = (counted.entries, counted.bytes, counted.stored)
      (state.garbage, state.tombstones) = (counted.garbage, counted.tombstones)
      (state.orphans, state.dependents) = (counted.orphans, counted.dependents)
      state.nextDue = counted.nextDue
    }
  }
}
