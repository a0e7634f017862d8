#if HTTP
  import Larder
  import Synchronization

  /// Stores the parts of a long body except the last part, before its response is stored.
  struct BodyWriter: Sendable {
    let parts: BodyParts
    let largest: Int
    private let namespace: Store.Namespace
    private let permit: StorePermit

    /// - Parameter largest: the limit of the policy. A body also uses at most half of each limit of the namespace and the
    ///   store, so that one body does not evict all others.
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

    /// Stores the part with the number `index`; false if the body can no longer be stored.
    func write(_ part: [UInt8], _ index: Int) async throws -> Bool {
      guard permit.isValid else { return false }
      return try await namespace.store.commit(size: part.count) { [parts, namespace] batch in
        try batch.add(part, index, of: parts, in: namespace)
      }
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

    func discard() async throws { _ = try await namespace.remove(parts.root) }

    /// The bytes `range` of the stored parts; nil if a part is gone or damaged.
    func piece(_ range: Range<Int>, of count: Int) throws -> [UInt8]? {
      try namespace.piece(of: parts, range, count: count, as: .next)
    }
  }
#endif
