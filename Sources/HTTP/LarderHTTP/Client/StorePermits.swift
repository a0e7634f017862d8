#if HTTP
  import Larder
  import Synchronization

  /// The permits of the requests under way. A valid permit lets a request store its response.
  ///
  /// An invalidation also applies to responses that were requested before it and arrive later. An invalidation by this cache
  /// revokes permits, and so ends their flights. An invalidation by another process is found when a response is stored.
  final class StorePermits: Sendable {
    private struct State {
      var last: UInt64 = 0
      /// The valid permits. A permit has a flight if other clients wait for its request.
      var permits: [UInt64: (tags: Set<String>, flight: Flight?)] = [:]
    }

    private let state = Mutex(State())

    /// Issues a permit. The caller gets the permit before it reads the store for the request.
    func issue(_ tags: Set<String>, in store: Store) -> StorePermit {
      let moment = store.momentOfLoad
      let number = state.withLock { state in
        state.last += 1
        state.permits[state.last] = (tags, nil)
        return state.last
      }
      return StorePermit(number: number, moment: moment, permits: self)
    }

    func add(_ tags: [String], to permit: StorePermit) {
      if tags.isEmpty { return }
      state.withLock { $0.permits[permit.number]?.tags.formUnion(tags) }
    }

    /// Gives a permit its flight. A revoked permit abandons the flight, because the response will serve no other client.
    func add(_ flight: Flight, to permit: StorePermit) {
      let isValid = state.withLock { state in
        state.permits[permit.number]?.flight = flight
        return state.permits[permit.number] != nil
      }
      if !isValid { flight.complete(.abandoned) }
    }

    /// Revokes all permits with the tag. Call this before the stored responses are removed, so that a response stored under a
    /// valid permit is removed, too. O(requests under way).
    ///
    /// - Parameter spared: a permit that stays valid and only loses the tag.
    /// - Returns: the flights, for the caller to abandon after the removal, so that new requests can store responses.
    func revoke(_ tag: String, except spared: StorePermit? = nil) -> [Flight] {
      state.withLock { state in
        if let spared { state.permits[spared.number]?.tags.remove(tag) }
        let revoked = state.permits.filter { $0.value.tags.contains(tag) }
        for number in revoked.keys { state.permits[number] = nil }
        return revoked.values.compactMap(\.flight)
      }
    }

    fileprivate func tags(of number: UInt64) -> Set<String>? {
      state.withLock { $0.permits[number]?.tags }
    }

    fileprivate func end(_ number: UInt64) { state.withLock { $0.permits[number] = nil } }
  }

  /// The permit of one request, valid until it is revoked or released.
  final class StorePermit: Sendable {
    fileprivate let number: UInt64
    private let moment: RemovalTable.Mark
    private let permits: StorePermits

    fileprivate init(number: UInt64, moment: RemovalTable.Mark, permits: StorePermits) {
      self.number = number
      self.moment = moment
      self.permits = permits
    }

    deinit { permits.end(number) }

    var isValid: Bool { permits.tags(of: number) != nil }

    /// Whether the response may be stored under `key`: no process has made a removal that the storing would undo.
    ///
    /// - Parameters:
    ///   - uri: the response's URI. The permit of a request that has invalidated the URI has lost the tag of the URI.
    ///   - own: the tags of the response, which may differ from the tags of the request.
    func isValid(
      for key: String, of uri: ResponseKey, _ own: [String], in namespace: Store.Namespace,
      _ batch: inout WriteBatch
    ) throws -> Bool {
      guard let tags = permits.tags(of: number) else { return false }
      var attributes = EntryAttributes()
      attributes.tags = Array(tags.union(own))
      let isOfUnsafe = !tags.contains(ResponseTags.uri(uri))
      return try batch.isNewest(
        moment, isOfUnsafe ? nil : Key(key).bytes, in: namespace.name, attributes)
    }
  }
#endif
