import LMDB
import LarderSystem

extension WriteBatch {
  /// Refuses a value that no eviction could make room for.
  mutating func checkSize(_ size: Int, rules: Rules, namespace: String) throws(LarderError) {
    guard size <= rules.largestValue else {
      throw LarderError(
        .overLimit,
        "a value of \(size) bytes is larger than namespace \(namespace) allows (\(rules.largestValue) bytes)",
        hint: "raise the namespace's largest value, or store less")
    }
    let store = try limits
    let own = rules.limits
    try Self.check(size, bytes: own.bytes, entries: own.entries, of: "namespace \(namespace)")
    try Self.check(size, bytes: store.bytes, entries: store.entries, of: "the store")
  }

  private static func check(
    _ size: Int, bytes: Int?, entries: Int?, of owner: @autoclosure () -> String
  ) throws(LarderError) {
    if let bytes, size > bytes {
      throw LarderError(
        .overLimit,
        "a value of \(size) bytes is larger than all that \(owner()) may hold (\(bytes) bytes)",
        hint: "raise the limit, or store less")
    }
    if entries == 0 {
      throw LarderError(
        .full, "\(owner()) may hold no entry: its limit is 0", hint: "raise the limit")
    }
  }

  /// Counts an entry in that is about to be written, in place of `previous`, and makes room for it: in its namespace, and
  /// in the store.
  ///
  /// Throws ``LarderError/Code/full``, with the counts as they were, if too little may leave.
  mutating func admit(
    _ weight: Weight, replacing previous: StoredEntry?, at slot: [UInt8], key: Span<UInt8>,
    owners: [StoredOwner], isChunked: Bool, rules: Rules, namespace: String
  ) throws(LarderError) {
    let id = slot.span.namespaceID
    if let previous { try countOut(Weight(previous), of: id) }
    try countIn(weight, of: id)
    let store = try limits
    if !rules.limits.isEmpty || store.evicts {
      var kept: Set<[UInt8]> = [slot]
      for owner in owners { kept.insert(owner.slot) }
      for owner in previous?.owners ?? [] { kept.insert(owner.slot) }
      writing = slot
      defer { writing = nil }
      do throws(LarderError) {
        try note(weight, isNew: previous == nil, slot: slot, key: key, rules: rules, kept: kept)
        try makeRoom(in: id, named: namespace, rules: rules, kept: kept)
        try makeRoomInStore(kept: kept)
        try makeRoomOnDisk(for: weight, isChunked: isChunked, kept: kept)
      } catch {
        try countOut(weight, of: id)
        if let previous { try countIn(Weight(previous), of: id) }
        throw error
      }
    }
    if let previous { try count(.replaced, bytes: previous.valueCount, in: id) }
  }

  /// Tells the policy of a new entry.
  private mutating func note(
    _ weight: Weight, isNew: Bool, slot: [UInt8], key: Span<UInt8>, rules: Rules,
    kept: Set<[UInt8]>
  ) throws(LarderError) {
    guard isNew, weight.sequence != 0 else { return }
    let id = slot.span.namespaceID
    let candidate = Candidate(
      sequence: weight.sequence, size: UInt64(weight.size),
      hash: Checksum.place(of: key, in: id), slot: slot)
    let request = RoomRequest(cause: .namespace, id: id, limits: rules.limits, kept: kept)
    _ = try with(rules.eviction, request) { policy, queue throws(LarderError) in
      try policy.inserted(candidate, into: &queue)
    }
  }

  /// Makes room in a namespace for what it counts already: first what has expired leaves, then what its policy chooses.
  mutating func makeRoom(
    in id: NamespaceID, named name: String, rules: Rules, kept: Set<[UInt8]>
  ) throws(LarderError) {
    let isOver = { (batch: borrowing WriteBatch) in
      rules.limits.exceeded(by: batch.counters[id] ?? NamespaceCounters()) != nil
    }
    guard rules.limits.exceeded(by: try loadCounters(id)) != nil else { return }
    try removeExpired(in: id, keeping: kept, while: isOver)
    guard isOver(self) else { return }
    let request = RoomRequest(cause: .namespace, id: id, limits: rules.limits, kept: kept)
    try evict(rules.eviction, request)
    // However many records it takes to find them: a write is not refused for what nobody can read any more.
    try removeExpired(in: id, limit: .max, keeping: kept, while: isOver)
    let counters = try loadCounters(id)
    guard rules.limits.exceeded(by: counters) != nil else { return }
    throw LarderError(
      .full,
      "namespace \(name) is full (\(rules.limits.words)), and nothing in it may be evicted"
        + (rules.eviction == .refuse ? "" : ": \(counters.pinned) entries are pinned"),
      hint: rules.eviction == .refuse
        ? "remove entries, raise the limit, or let the namespace evict"
        : "unpin or remove entries, or raise the limit")
  }

  /// Lets the namespace's policy choose until the request is met or nothing more can leave.
  @discardableResult
  mutating func evict(_ eviction: Eviction, _ request: RoomRequest) throws(LarderError)
    -> RemovalResult
  {
    guard eviction != .refuse else { return RemovalResult() }
    return try with(eviction, request) { policy, queue throws(LarderError) in
      try policy.makeRoom(in: &queue)
    }
  }

  private mutating func with(
    _ eviction: Eviction, _ request: RoomRequest,
    _ body: (any EvictionPolicy, inout NamespaceQueue) throws(LarderError) -> Void
  ) throws(LarderError) -> RemovalResult {
    let policy: any EvictionPolicy =
      eviction == .fifo
      ? FIFOPolicy() : AdaptivePolicy(table: engine.access, minute: now.milliseconds / 60_000)
    var queue = NamespaceQueue(self, request)
    var failure: LarderError?
    do throws(LarderError) {
      try body(policy, &queue)
    } catch {
      failure = error
    }
    let removal = queue.removal
    self = queue.release()
    if let failure { throw failure }
    return removal
  }
}

extension Limits {
  /// For messages: `20 entries, 1000 bytes`.
  var words: String {
    [entries.map { "\($0) entries" }, bytes.map { "\($0) bytes" }].compactMap { $0 }
      .joined(separator: ", ")
  }
}

extension StoreLimits {
  /// Whether anything may have to leave for them.
  var evicts: Bool { entries != nil || bytes != nil || disk != nil }
}
