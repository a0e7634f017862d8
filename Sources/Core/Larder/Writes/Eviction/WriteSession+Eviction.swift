import LMDB
import LarderSystem
import Synchronization

extension WriteSession {
  mutating func makeRoom(in namespace: KnownNamespace) throws(LarderError) {
    let (id, rules) = (namespace.id, namespace.rules)
    if try lower(namespace, to: rules.limits) { return }
    // The search for expired entries has no limit, because no write may be refused while expired entries take the room.
    try removeExpired(in: id, limit: .max) { session in session.exceeds(rules.limits, in: id) }
    guard exceeds(rules.limits, in: id) else { return }
    let refuses = rules.eviction == .refuse
    throw LarderError(
      .full,
      "namespace \(namespace.name) is full (\(rules.limits.words)), and nothing in it may be evicted"
        + (refuses
          ? ""
          : ": \(ledger.read(id) { $0.pinned }) entries are pinned, and the others own what must stay, or belong to it"),
      hint: refuses
        ? "remove entries, raise the limit, or let the namespace evict"
        : "unpin or remove entries, lower guarantees, or raise the limit")
  }

  /// Removes expired entries, then lets the policy of the namespace evict. Returns whether the usage is then within the limits.
  mutating func lower(_ namespace: KnownNamespace, to limits: Limits) throws(LarderError) -> Bool {
    let id = namespace.id
    guard exceeds(limits, in: id) else { return true }
    try removeExpired(in: id) { session in session.exceeds(limits, in: id) }
    guard exceeds(limits, in: id) else { return true }
    try evict(namespace.rules.eviction, RoomRequest(id: id, limits: limits))
    return !exceeds(limits, in: id)
  }

  mutating func makeRoomInStore() throws(LarderError) {
    if try lowerStore() { return }
    try removeExpired(in: nil, limit: .max) { session in session.isStoreOver }
    if isStoreOver {
      throw LarderError(
        .full,
        "\(engine.environment.path) is full (\(budget.limits.words)), and nothing in it may be evicted",
        hint: "remove or unpin entries, raise the limit, lower guarantees, or let namespaces evict")
    }
  }

  mutating func lowerStore() throws(LarderError) -> Bool {
    guard isStoreOver else { return true }
    try removeExpired(in: nil) { session in session.isStoreOver }
    try evictInTurn { session in session.isStoreOver }
    return !isStoreOver
  }

  /// Returns false if the search for expired entries has stopped at its limit.
  @discardableResult
  mutating func removeExpired(
    in id: NamespaceID?, limit: Int = ExpirySweep.perWrite,
    while shouldContinue: (borrowing WriteSession) -> Bool
  ) throws(LarderError) -> Bool {
    var sweep = ExpirySweep(of: id, limit: limit)
    try sweep.run(&self, while: shouldContinue)
    return sweep.isDone || !shouldContinue(self)
  }

  /// While `shouldContinue` returns true, lets one namespace after another evict an entry; ``FairShare`` chooses the namespaces.
  /// If no limit of entries or bytes is exceeded, the evictions count as evictions for the disk limit.
  mutating func evictInTurn(
    while shouldContinue: (borrowing WriteSession) -> Bool
  ) throws(LarderError) {
    guard shouldContinue(self) else { return }
    var members = try namespaces().filter { $0.rules.eviction != .refuse }
    while let lowest = members.map(\.rules.priority).min() {
      let evicting = members.filter { $0.rules.priority == lowest }
      members.removeAll { $0.rules.priority == lowest }
      var turns = engine.writes.fairShare.withLock { $0.turns(of: evicting) }
      while let (_, index) = turns.popLast() {
        if let time = try evictOne(of: evicting[index]) {
          let place = (turns.lastIndex { $0.time > time } ?? -1) + 1
          turns.insert((time: time, index: index), at: place)
        }
        if !shouldContinue(self) { return }
      }
    }
  }

  /// Lets a namespace evict an entry. Returns the time of its next turn, or nil if no entry of the namespace may leave.
  private mutating func evictOne(of member: KnownNamespace) throws(LarderError) -> Double? {
    let id = member.id
    try load(id)
    let (usage, before, commit) = (ledger.expectedUsage(id), state.stored, transaction.id)
    guard usage.entries > 0 else {
      engine.writes.fairShare.withLock { $0.pause(member) }
      return nil
    }
    let first = engine.writes.fairShare.withLock { $0.begin(member, of: usage.entries, at: commit) }
    if let first { return first }
    // A write to the namespace itself may evict even the guaranteed bytes, so the guarantee does not count then.
    let guaranteed = ledger.expected?.id == id ? 0 : member.guaranteed
    let request = RoomRequest(
      id: id, limits: member.rules.limits, reason: exceededLimit ?? .evictedForDisk,
      evictionsLeft: 1, guaranteed: guaranteed)
    // Subscribers get the name of the namespace. With this assignment the name is found without a search.
    known.set(ExactString(member.name), to: member)
    // A search lowers the clocks of the entries that it passes, so nothing is searched if an average entry may not leave.
    let least = guaranteed &+ usage.bytes / usage.entries
    let evicted = try usage.bytes < least ? 0 : evict(member.rules.eviction, request)
    // Counts the bytes of records, because values may be empty. A refusal counts like the eviction of an average entry, so that
    // only few writes try in vain.
    let stored = ledger.read(id) { $0.stored }
    let removed = evicted == 0 ? stored / usage.entries : before - min(before, state.stored)
    let share = Double(max(removed, 1)) / Double(max(stored &+ removed, 1))
    let next = engine.writes.fairShare.withLock { $0.charge(member, share: share) }
    return evicted == 0 ? nil : next
  }

  /// The undamaged namespaces. O(1) if no namespace has changed since the last call of this process, else O(namespaces).
  mutating func namespaces() throws(LarderError) -> [KnownNamespace] {
    let generation = state.generation
    if let listed, listed.generation == generation { return listed.namespaces }
    let share = engine.writes.fairShare.withLock { $0 }
    if share.generation == generation { return share.namespaces }
    // Only few records have changed since the former list. Parsing the rules of all records would take long.
    let (prefix, seal, former) = (MetadataKey.namespaces, engine.seal, share.namespaces.named)
    let namespaces = try transaction.read { lmdb throws(LMDBError) -> [KnownNamespace] in
      var found: [KnownNamespace] = []
      try lmdb.forEach(in: .main, from: prefix) { key, record throws(LMDBError) in
        let name = String(decoding: key.copied.dropFirst(prefix.count), as: UTF8.self)
        let saved = record.copied
        if let same = former[ExactString(name)], same.saved == saved {
          found.append(same)
        } else if let changed = try? NamespaceRecord(record, name: name, seal: seal) {
          found.append(KnownNamespace(changed, named: name, saved: saved))
        }
      }
      return found
    }
    listed = (generation, namespaces)
    if ledger.hasCommittedGeneration {
      engine.writes.fairShare.withLock { $0.remember(namespaces, at: generation) }
      let named = namespaces.named
      for handle in engine.allHandles {
        if let known = named[ExactString(handle.name)] {
          handle.known.withLock { $0 = (generation, known) }
        }
      }
    }
    return namespaces
  }

  /// The guaranteed bytes of each undamaged namespace, at the same cost as ``namespaces()``.
  mutating func guarantees() throws(LarderError) -> [NamespaceID: UInt64] {
    let (namespaces, generation) = (try namespaces(), state.generation)
    return engine.writes.fairShare.withLock {
      $0.generation == generation ? $0.guarantees : namespaces.guarantees
    }
  }

  /// Returns the number of removed entries.
  @discardableResult
  mutating func evict(_ eviction: Eviction, _ request: RoomRequest) throws(LarderError) -> Int {
    switch eviction {
    case .adaptive: try withQueue(request) { queue throws(LarderError) in try queue.makeRoom() }
    case .fifo:
      try withQueue(request) { queue throws(LarderError) in try queue.makeRoomOldestFirst() }
    case .refuse: 0
    }
  }

  mutating func noteInserted(_ new: Draft, in namespace: KnownNamespace) throws(LarderError) {
    let request = RoomRequest(id: namespace.id, limits: namespace.rules.limits)
    let minute = now.milliseconds / 60_000
    let candidate = Candidate(
      sequence: new.header.sequence, size: UInt64(new.valueCount), hash: new.keyHash,
      entryKey: new.entryKey)
    _ = try withQueue(request) { queue throws(LarderError) in
      try queue.inserted(candidate, of: namespace.id, in: minute)
    }
  }

  private mutating func withQueue(
    _ request: RoomRequest, _ body: (inout NamespaceQueue) throws(LarderError) -> Void
  ) throws(LarderError) -> Int {
    var queue = NamespaceQueue(self, request)
    var failure: LarderError?
    do throws(LarderError) { try body(&queue) } catch { failure = error }
    let removed = queue.removed
    self = queue.end()
    if let failure { throw failure }
    return removed
  }
}

extension StoreLimits {
  var counted: Limits {
    get { Limits(entries: entries, bytes: bytes) }
    set { (entries, bytes) = (newValue.entries, newValue.bytes) }
  }

  /// - Parameter stored: the size after the transforms, which the limits count; nil if the transforms do not change the size.
  func checkSize(
    _ size: Int, stored: Int? = nil, under rules: Rules, named name: String
  ) throws(LarderError) {
    guard size <= rules.largestValue else { throw LarderError.tooLarge(size, for: name, rules) }
    try rules.limits.checkSize(stored ?? size, of: "namespace \(name)")
    try counted.checkSize(stored ?? size, of: "the store")
  }

  var words: String {
    [
      entries.map { LimitWords.entries($0) }, bytes.map { LimitWords.bytes($0) },
      disk.map { "\(LimitWords.bytes($0)) on disk" },
    ].compactMap { $0 }.joined(separator: ", ")
  }
}

extension Limits {
  fileprivate func checkSize(_ size: Int, of owner: @autoclosure () -> String) throws(LarderError) {
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

  var words: String { StoreLimits(entries: entries, bytes: bytes).words }
}

enum LimitWords {
  static func entries(_ number: some BinaryInteger) -> String {
    number == 1 ? "1 entry" : "\(number) entries"
  }

  static func bytes(_ number: some BinaryInteger) -> String {
    number == 1 ? "1 byte" : "\(number) bytes"
  }
}
