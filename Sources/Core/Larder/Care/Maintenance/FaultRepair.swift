import LMDB
import LarderSystem

extension Store {
  /// Repairs the faults that ``verify()`` has found, in writes of at most 500 records. Between these, other writes run.
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

/// How ``FaultRepair`` repairs a fault.
enum Remedy: Hashable, Sendable {
  /// Mends an entry, or removes an index record that is damaged or leads to no entry.
  case record(NamespaceRepair.Part, [UInt8])
  /// Counts a namespace again. `used` is the highest version in use, if the counters may give this version again.
  case recountNamespace(used: UInt64)
  /// Lists an id without a namespace as cleared.
  case clear(NamespaceID)
  /// Lists the id in a damaged record of a cleared namespace again.
  case clearedRecord([UInt8])
  /// Removes the id of an existing namespace from the list of cleared namespaces.
  case keep(NamespaceID, String)
  case countersRecord([UInt8])
  case finishInvalidations
  /// Needs only the count of the store, which ends every repair.
  case recount
  case impossible
}

/// Repairs each fault. Another write may have changed a record after the check, so each write reads the record again.
struct FaultRepair {
  static let perCommit = 500
  let engine: StoreEngine
  let nextVersions: [NamespaceID: UInt64]
  let shouldContinue: (_ done: Int) -> Bool
  var done = 0

  /// - Returns: the faults that remain; nil if the repair was stopped.
  mutating func run(
    _ faults: [Verification.Inconsistency]
  ) throws(LarderError) -> [Verification.Inconsistency]? {
    if faults.contains(where: { $0.kind == .pages }) { return faults }
    let areNamesKnown = !faults.contains { $0.remedy == .impossible }
    func stays(_ found: Verification.Inconsistency) -> Bool {
      switch found.remedy {
      // The id may belong to a namespace whose record is damaged, so these faults stay if a name is unknown.
      case .clear, .clearedRecord: !areNamesKnown
      default: found.remedy == .impossible
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
        for found in some { try mend(found, &batch.session) }
      }
      done += some.count
    }
    if faults.contains(where: { $0.remedy == .finishInvalidations }), try !finishInvalidations() {
      return false
    }
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

  /// A version names only one value. So a chunk without a value at the check has no value now. But if a write after the check
  /// has used the version of the chunk, the chunk may belong to the new value.
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

  private func mend(
    _ found: Verification.Inconsistency, _ session: inout WriteSession
  ) throws(LarderError) {
    switch found.remedy {
    case .record(let part, let key):
      try mend(key, in: part, &session)
    case .recountNamespace(let used):
      guard let name = found.namespace, let id = try session.namespace(name)?.id else { return }
      try session.update(id) { $0.next = max($0.next, used &+ 1) }
      try RepairMark.note(id, &session.transaction)
    // After the check, another write may have created or removed a namespace with the id, so each case looks the id up again.
    case .clear(let id):
      try session.listAsCleared(id)
    case .clearedRecord(let key):
      try session.transaction.remove(key, from: .main)
      if let id = MetadataKey.id(of: key.span) { try session.listAsCleared(id) }
    case .keep(let id, let name):
      guard try session.namespace(name)?.id == id else { return }
      try session.transaction.remove(MetadataKey.garbage(id), from: .main)
    case .countersRecord(let key):
      try session.transaction.remove(key, from: .main)
    case .finishInvalidations, .recount, .impossible:
      break
    }
  }

  /// Finishes all invalidations; returns false if stopped. Until then, a damaged tag record hides all entries with tags.
  private func finishInvalidations() throws(LarderError) -> Bool {
    var areLeft = true
    while areLeft {
      guard shouldContinue(done) else { return false }
      areLeft = try engine.commit(.withoutCleanup) { batch in
        try batch.session.resumeFirstInvalidation(limit: Self.perCommit)
        return batch.session.state.tombstones > 0
      }
    }
    return true
  }
}

extension WriteSession {
  fileprivate mutating func listAsCleared(_ id: NamespaceID) throws(LarderError) {
    guard try name(of: id) == nil else { return }
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
