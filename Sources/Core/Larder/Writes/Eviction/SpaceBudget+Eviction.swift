import LMDB
import LarderSystem

extension SpaceBudget {
  /// Throws for a value that is larger than a limit, because no eviction can make room for it.
  func checkSize(_ size: Int, in known: KnownNamespace, named name: String) throws(LarderError) {
    try checkSize(size, under: known.rules, named: name)
  }

  func checkSize(_ size: Int, under rules: Rules, named name: String) throws(LarderError) {
    guard size <= rules.largestValue else {
      throw LarderError.tooLarge(size, for: name, rules)
    }
    let own = rules.limits
    try Self.check(size, bytes: own.bytes, entries: own.entries, of: "namespace \(name)")
    try Self.check(size, bytes: limits.bytes, entries: limits.entries, of: "the store")
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

  func mayEvict(_ rules: Rules) -> Bool { rules.limits.evicts || limits.evicts || hasDiskLimit }

  func makeRoom(in namespace: KnownNamespace, _ session: inout WriteSession) throws(LarderError) {
    let (id, rules) = (namespace.id, namespace.rules)
    if try lower(namespace, to: rules.limits, &session) { return }
    // The search for expired entries has no limit, because no write may be refused while expired entries take the room.
    var sweep = ExpirySweep(of: id, limit: .max)
    try sweep.run(&session) { session in rules.limits.areExceeded(by: id, session) }
    guard rules.limits.areExceeded(by: id, session) else { return }
    let refuses = rules.eviction == .refuse
    throw LarderError(
      .full,
      "namespace \(namespace.name) is full (\(rules.limits.words)), and nothing in it may be evicted"
        + (refuses
          ? ""
          : ": \(session.ledger[id].pinned) entries are pinned, and the others own what must stay, or belong to it"),
      hint: refuses
        ? "remove entries, raise the limit, or let the namespace evict"
        : "unpin or remove entries, lower guarantees, or raise the limit")
  }

  /// Removes expired entries, then lets the policy of the namespace evict. Returns whether the usage is then within the limits.
  func lower(
    _ namespace: KnownNamespace, to limits: Limits, _ session: inout WriteSession
  ) throws(LarderError) -> Bool {
    let id = namespace.id
    guard limits.areExceeded(by: id, session) else { return true }
    var sweep = ExpirySweep(of: id)
    try sweep.run(&session) { session in limits.areExceeded(by: id, session) }
    guard limits.areExceeded(by: id, session) else { return true }
    try evict(namespace.rules.eviction, RoomRequest(id: id, limits: limits), &session)
    return !limits.areExceeded(by: id, session)
  }

  func makeRoomInStore(_ session: inout WriteSession) throws(LarderError) {
    if try lowerStore(&session) { return }
    var sweep = ExpirySweep(of: nil, limit: .max)
    try sweep.run(&session) { session in isOver(session) }
    if isOver(session) {
      throw LarderError(
        .full,
        "\(session.engine.environment.path) is full (\(limits.words)), and nothing in it may be evicted",
        hint: "remove or unpin entries, raise the limit, lower guarantees, or let namespaces evict")
    }
  }

  /// Removes expired entries, then lets one namespace after another evict. Returns whether the usage is then within the limits.
  func lowerStore(_ session: inout WriteSession) throws(LarderError) -> Bool {
    guard isOver(session) else { return true }
    var sweep = ExpirySweep(of: nil)
    try sweep.run(&session) { session in isOver(session) }
    try evictInTurn(&session) { session in isOver(session) }
    return !isOver(session)
  }

  /// While `shouldContinue` returns true, lets one namespace after another evict an entry; ``FairShare`` chooses the namespace.
  /// If no limit of entries or bytes is exceeded, the evictions count as evictions for the disk limit.
  func evictInTurn(
    _ session: inout WriteSession, while shouldContinue: (borrowing WriteSession) -> Bool
  ) throws(LarderError) {
    guard shouldContinue(session) else { return }
    let fairShare = session.engine.writes.fairShare
    var members = try members(&session).filter { $0.eviction != .refuse }
    while shouldContinue(session), let member = fairShare.next(among: members) {
      try session.load(member.id)
      let usage = session.ledger.expectedUsage(member.id)
      let limits = try session.namespace(member.name)?.rules.limits ?? Limits()
      // A write to the namespace itself may evict even the guaranteed bytes, so the guarantee does not count then.
      let isOwn = session.ledger.expected?.id == member.id
      let guaranteed = isOwn ? 0 : member.guaranteed
      let request = RoomRequest(
        id: member.id, limits: limits,
        reason: exceededLimit(session.ledger.expectedTotal) ?? .evictedForDisk, evictionsLeft: 1,
        guaranteed: guaranteed)
      let removal =
        usage.entries == 0 || usage.bytes < guaranteed
        ? RemovalResult() : try evict(member.eviction, request, &session)
      if removal.entries == 0 {
        members.removeAll { $0.id == member.id }
      } else {
        fairShare.charge(
          member.id, share: Double(max(removal.bytes, 1)) / Double(max(usage.bytes, 1)))
      }
    }
  }

  func members(_ session: inout WriteSession) throws(LarderError) -> [FairShare.Member] {
    let fairShare = session.engine.writes.fairShare
    if let known = fairShare.known(at: session.state.generation) { return known.members }
    var members: [FairShare.Member] = []
    for name in try session.namespaceNames() {
      guard let namespace = try session.namespace(name) else { continue }
      members.append(
        FairShare.Member(
          name: name, priority: namespace.rules.priority, eviction: namespace.rules.eviction,
          id: namespace.id, guaranteed: UInt64(clamping: namespace.rules.limits.guaranteed ?? 0)))
    }
    if session.ledger.hasCommittedGeneration {
      fairShare.remember(members, at: session.state.generation)
    }
    return members
  }

  func guarantees(_ session: inout WriteSession) throws(LarderError) -> [NamespaceID: UInt64] {
    let known = session.engine.writes.fairShare.known(at: session.state.generation)
    return if let known { known.guarantees } else { try members(&session).guarantees }
  }

  @discardableResult
  func evict(
    _ eviction: Eviction, _ request: RoomRequest, _ session: inout WriteSession
  ) throws(LarderError) -> RemovalResult {
    switch eviction {
    case .adaptive:
      return try withQueue(request, &session) { queue throws(LarderError) in try queue.makeRoom() }
    case .fifo:
      return try withQueue(request, &session) { queue throws(LarderError) in
        try queue.makeRoomOldestFirst()
      }
    case .refuse: return RemovalResult()
    }
  }

  func noteInserted(
    _ candidate: Candidate, in namespace: KnownNamespace, _ session: inout WriteSession
  ) throws(LarderError) {
    let request = RoomRequest(id: namespace.id, limits: namespace.rules.limits)
    let minute = session.now.milliseconds / 60_000
    _ = try withQueue(request, &session) { queue throws(LarderError) in
      try queue.inserted(candidate, of: namespace.id, in: minute)
    }
  }

  private func withQueue(
    _ request: RoomRequest, _ session: inout WriteSession,
    _ body: (inout NamespaceQueue) throws(LarderError) -> Void
  ) throws(LarderError) -> RemovalResult {
    var queue = NamespaceQueue(session, self, request)
    var failure: LarderError?
    do throws(LarderError) {
      try body(&queue)
    } catch {
      failure = error
    }
    let removal = queue.removal
    session = queue.end()
    if let failure { throw failure }
    return removal
  }
}

extension Limits {
  /// The limits in the form that messages use: `20 entries, 1000 bytes`.
  var words: String {
    [entries.map { LimitWords.entries($0) }, bytes.map { LimitWords.bytes($0) }]
      .compactMap { $0 }.joined(separator: ", ")
  }
}

extension StoreLimits {
  /// Whether a new entry may evict other entries because of the limits of entries or bytes. The disk limit is not included.
  var evicts: Bool { entries != nil || bytes != nil }

  var words: String {
    [
      entries.map { LimitWords.entries($0) }, bytes.map { LimitWords.bytes($0) },
      disk.map { "\(LimitWords.bytes($0)) on disk" },
    ].compactMap { $0 }.joined(separator: ", ")
  }
}

enum LimitWords {
  static func entries(_ number: some BinaryInteger) -> String {
    number == 1 ? "1 entry" : "\(number) entries"
  }

  static func bytes(_ number: some BinaryInteger) -> String {
    number == 1 ? "1 byte" : "\(number) bytes"
  }

  /// A text for messages, for example `8 entries (1000 bytes)`.
  static func usage(_ entries: some BinaryInteger, _ bytes: some BinaryInteger) -> String {
    "\(self.entries(entries)) (\(self.bytes(bytes)))"
  }
}

extension LarderError {
  package static func tooLarge(_ size: Int, for namespace: String, _ rules: Rules) -> LarderError {
    LarderError(
      .overLimit,
      "a value of \(size) bytes is larger than namespace \(namespace) allows (\(rules.largestValue) bytes)",
      hint: "raise the namespace's largest value, or store less")
  }
}
