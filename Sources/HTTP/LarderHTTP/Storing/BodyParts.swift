#if HTTP
  import Larder

  /// The entries of a body that does not fit into the entry of its response.
  ///
  /// The entry `body ID` is empty. The parts `body ID 0`, `body ID 1` and so on, and the response's entry, belong to `body ID`:
  /// an eviction removes all these entries together. The key of a response begins with its URI, and so never with `body `.
  ///
  /// Until the response is stored, the entries have the lifetime ``lease``. If the process ends earlier, the entries then
  /// expire. After another body has replaced this body, the entries have the lifetime ``grace``, which a reading client extends.
  struct BodyParts: Hashable, Sendable {
    /// The longest body that is the value of the response's entry. Such a body is read in one piece.
    static let largestWhole = IncomingBody.pieceSize
    /// The length of a part if the namespace allows values of that length.
    static let usualSize = 1 << 18
    /// The longest body that the metadata of a response may state; metadata with a longer body is damaged.
    static let largestBody: Int64 = 1 << 50
    /// The lifetime of the entries before the response is stored, counted from the last stored part, or from the last part that
    /// a client of a body that is not stored has read.
    static let lease = Duration.seconds(600)
    /// The lifetime of the entries of a replaced body, counted from the replacement, or from the last extension by a client.
    static let grace = Duration.seconds(240)

    /// The id of the body; see ``StoredResponse/bodyID``.
    let id: UInt64
    /// The length of each part except the last.
    let size: Int

    /// The key of the entry to which the other entries belong.
    var root: String { "body " + String(id, radix: 16) }

    func key(_ index: Int) -> String { "\(root) \(index)" }

    /// The length of the part with this index, in a body of `count` bytes.
    func length(of index: Int, in count: Int) -> Int { min(size, count - index * size) }

    func owner(in namespace: Store.Namespace) -> Owner { Owner(Key(root), in: namespace.name) }
  }

  extension WriteBatch {
    /// Stores a part of a body. Returns false if the store has removed the earlier parts.
    mutating func add(
      _ part: [UInt8], _ index: Int, of parts: BodyParts, in namespace: Store.Namespace
    ) throws -> Bool {
      let lease = Expiration.after(BodyParts.lease)
      if index == 0 {
        var attributes = EntryAttributes(expires: lease)
        attributes.stale = .zero
        try set([UInt8](), for: parts.root, in: namespace, attributes)
      } else if try !touch(parts.root, in: namespace, expires: lease) {
        return false
      }
      var attributes = EntryAttributes(expires: .never)
      attributes.owners = [parts.owner(in: namespace)]
      try set(part, for: parts.key(index), in: namespace, attributes)
      return true
    }

    /// Gives the entries of a body the tags of its response, and a lifetime that is longer by ``BodyParts/grace``: a client that
    /// begins to read shortly before the response expires can read to the end. Returns false if these entries are gone.
    mutating func keep(
      _ parts: BodyParts, in namespace: Store.Namespace, _ response: EntryAttributes
    ) throws -> Bool {
      guard let root = try entry(for: parts.root, in: namespace), root.state != .expired else {
        return false
      }
      var attributes = EntryAttributes(expires: response.expires)
      if case .at(let end) = response.expires {
        attributes.expires = .at(end.advanced(by: BodyParts.grace))
      }
      attributes.stale = response.stale
      attributes.tags = response.tags
      try set([UInt8](), for: parts.root, in: namespace, attributes)
      return true
    }

    /// The parts of the response's body under `key`; nil if there is no such response, or if the body is the value.
    mutating func bodyParts(
      of key: some StoreKey, in namespace: Store.Namespace
    ) throws -> BodyParts? {
      guard let entry = try entry(for: key, in: namespace), let metadata = entry.metadata,
        ResponseMetadata.mayHaveParts(metadata)
      else { return nil }
      return StoredResponse(entry)?.parts
    }

    /// Removes a stored response. Returns false if the response was absent or had expired.
    mutating func removeResponse(
      _ key: some StoreKey, from namespace: Store.Namespace
    ) throws -> Bool {
      if let parts = try bodyParts(of: key, in: namespace) { try release(parts, in: namespace) }
      return try remove(key, from: namespace)
    }

    /// Shortens the lifetime of parts that no response has any more. Clients that are reading the parts can read to the end.
    mutating func release(_ parts: BodyParts, in namespace: Store.Namespace) throws {
      _ = try touch(parts.root, in: namespace, expires: .after(BodyParts.grace))
    }
  }

  /// Stores the parts of a long body except the last part, before its response is stored.
  struct BodyWriter: Sendable {
    let parts: BodyParts
    let largest: Int
    private let namespace: Store.Namespace
    private let permit: StorePermit

    /// - Parameter largest: the limit of the policy. A body also uses at most half of each limit of the namespace and the
    ///   store, so that one body does not evict all other entries.
    init(in namespace: Store.Namespace, largest: Int, permit: StorePermit) throws {
      let rules = try namespace.info()?.rules ?? Rules()
      let store = try namespace.store.limits().effective
      let size = max(1, min(BodyParts.usualSize, rules.largestValue))
      let entries = [rules.limits.entries, store.entries].compactMap { $0 }.min() ?? .max
      let (bytes, isTooLarge) = entries.multipliedReportingOverflow(by: size)
      let limits = [rules.limits.bytes, store.bytes, store.disk, isTooLarge ? nil : bytes]
      parts = BodyParts(id: .random(in: .min ... .max), size: size)
      self.largest = min(largest, (limits.compactMap { $0 }.min() ?? .max) / 2)
      self.namespace = namespace
      self.permit = permit
    }

    /// Stores the part with the number `index`. Returns false if the body can no longer be stored.
    func write(_ part: [UInt8], _ index: Int) async throws -> Bool {
      guard permit.isValid else { return false }
      return try await namespace.store.commit(size: part.count) { [parts, namespace] batch in
        try batch.add(part, index, of: parts, in: namespace)
      }
    }

    /// Extends the lease of the parts, for a client that reads them.
    func renew() async throws {
      guard let end = try namespace.entry(for: parts.root)?.expires,
        end < namespace.store.clock.now.advanced(by: BodyParts.lease / 10 * 9)
      else { return }
      _ = try await namespace.touch(parts.root, expires: .after(BodyParts.lease))
    }

    /// Stores all parts of `body` except the last part, and returns the last part; nil if the body can no longer be stored.
    func writeAllButLast(of body: [UInt8]) async throws -> (last: [UInt8], index: Int)? {
      let last = (body.count - 1) / parts.size
      for index in 0..<last {
        let start = index * parts.size
        guard try await write(Array(body[start..<start + parts.size]), index) else { return nil }
      }
      return (Array(body[(last * parts.size)...]), last)
    }

    /// Removes the parts. A cancelled task writes nothing, so the removal has a task of its own.
    func discard() async throws {
      try await Task { _ = try await namespace.remove(parts.root) }.value
    }

    /// The bytes `range` of the stored parts; nil if a part is gone or damaged.
    func piece(_ range: Range<Int>, of count: Int) throws -> [UInt8]? {
      try namespace.piece(of: parts, range, count: count, as: .next)
    }
  }
#endif
