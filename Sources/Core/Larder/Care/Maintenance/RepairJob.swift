import LMDB
import LarderSystem

/// Repairs the marked namespaces; see ``NamespaceRepair``. Searches in read transactions, so write transactions stay small.
struct RepairJob {
  private static let readsPerStep = 10_000
  private static let dropsPerCommit = 500
  private static let attempts = 3

  let engine: StoreEngine

  /// Repairs every marked namespace. Returns the number of repairs. If `shouldContinue` stops a repair, the mark stays.
  func run(while shouldContinue: () -> Bool = { true }) throws(LarderError) -> Int {
    var repaired = 0
    for id in try marked() {
      // If the record of the counters is damaged, only a write counts the entries again.
      _ = try engine.commit(.withoutCleanup) { batch in try batch.session.counters(of: id) }
      let repair = NamespaceRepair(id: id, indexes: engine.indexes)
      var isDone = false
      for _ in 0..<Self.attempts where !isDone {
        for part in NamespaceRepair.Part.allCases {
          guard try run(part, of: repair, while: shouldContinue) else { return repaired }
        }
        let survey = try survey(repair)
        isDone = try engine.commit(.withoutCleanup) { batch in
          try repair.finish(survey, &batch.session)
        }
      }
      repaired += isDone ? 1 : 0
    }
    return repaired
  }

  private func marked() throws(LarderError) -> [NamespaceID] {
    try engine.typed {
      var ids: [NamespaceID] = []
      let snapshot = try engine.beginRead()
      try snapshot.forEach(in: .main, from: MetadataKey.repairs) { key, _ throws(LMDBError) in
        if let id = MetadataKey.id(of: key) { ids.append(id) }
      }
      return ids
    }
  }

  /// - Returns: false if the job was stopped.
  private func run(
    _ part: NamespaceRepair.Part, of repair: NamespaceRepair, while shouldContinue: () -> Bool
  ) throws(LarderError) -> Bool {
    let chunks = part == .chunks ? try survey(repair).chunks : NamespaceRepair.ChunkOwners()
    var position: [UInt8]?
    repeat {
      guard shouldContinue() else { return false }
      let (keys, reached) = try engine.typed {
        let snapshot = try engine.beginRead()
        return try repair.dangling(
          part, after: position, atMost: Self.readsPerStep, chunks, in: snapshot)
      }
      position = reached
      for start in stride(from: 0, to: keys.count, by: Self.dropsPerCommit) {
        guard shouldContinue() else { return false }
        let some = Array(keys[start...].prefix(Self.dropsPerCommit))
        try engine.commit(.withoutCleanup) { batch in
          try repair.drop(some, part, chunks, &batch.session)
        }
      }
    } while position != nil
    return true
  }

  private func survey(_ repair: NamespaceRepair) throws(LarderError) -> NamespaceRepair.Survey {
    try engine.typed {
      let snapshot = try engine.beginRead()
      // If the namespace was removed after it was marked, it has no record of counters.
      let isGone = try snapshot.find(MetadataKey.counters(repair.id), in: .main) == nil
      let recorded =
        isGone ? NamespaceCounters() : try engine.metadata.counters(of: repair.id, in: snapshot)
      return try repair.survey(recorded, in: snapshot)
    }
  }
}

/// The metadata record that marks a namespace for repair. The record counts how often damage was found in the namespace.
enum RepairMark {
  static func events(_ record: Span<UInt8>) -> UInt64 { record.count == 8 ? record.word(at: 0) : 0 }

  static func note(_ id: NamespaceID, _ transaction: inout StoreTransaction) throws(LarderError) {
    let key = MetadataKey.repair(id)
    let record = try transaction.copy(of: key, in: .main) ?? []
    let next = [UInt8](count: 8) { $0.append(word: events(record.span) &+ 1) }
    try transaction.put(next, for: key, in: .main)
  }
}
