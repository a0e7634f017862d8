#if HTTP
  import Synchronization

  /// The permits of the requests under way, which may still store their responses.
  ///
  /// An invalidation of a host, a user or a URI also applies to responses that were requested before it and arrive after it.
  final class StorePermits: Sendable {
    private struct State {
      var last: UInt64 = 0
      var tags: [UInt64: Set<String>] = [:]
      /// The flights of some permits.
      var flights: [UInt64: Flight] = [:]
    }

    private let state = Mutex(State())

    /// Call this before the request is sent.
    func issue(_ tags: Set<String>) -> StorePermit {
      let number = state.withLock { state in
        state.last += 1
        state.tags[state.last] = tags
        return state.last
      }
      return StorePermit(number: number, permits: self)
    }

    /// Adds tags to a valid permit.
    func add(_ tags: [String], to permit: StorePermit) {
      if tags.isEmpty { return }
      state.withLock { $0.tags[permit.number]?.formUnion(tags) }
    }

    /// Ends the flight when the permit is revoked: its response will serve no other client. At once, if that has happened.
    func add(_ flight: Flight, to permit: StorePermit) {
      let isValid = state.withLock { state in
        guard state.tags[permit.number] != nil else { return false }
        state.flights[permit.number] = flight
        return true
      }
      if !isValid { flight.complete(.abandoned) }
    }

    /// Revokes all permits with the tag except `spared`. Call this before the stored responses are removed, so that a response
    /// stored under a valid permit is removed, too.
    ///
    /// - Returns: whether there were any. A commit that has found its permit valid may still be under way then.
    /// - Complexity: O(requests under way).
    @discardableResult
    func revoke(_ tag: String, except spared: StorePermit? = nil) -> Bool {
      let (isAny, flights) = state.withLock { state in
        var (isAny, flights) = (false, [Flight]())
        for (number, tags) in state.tags where tags.contains(tag) && number != spared?.number {
          isAny = true
          state.tags[number] = nil
          if let flight = state.flights.removeValue(forKey: number) { flights.append(flight) }
        }
        return (isAny, flights)
      }
      for flight in flights { flight.complete(.abandoned) }
      return isAny
    }

    fileprivate func holds(_ number: UInt64) -> Bool { state.withLock { $0.tags[number] != nil } }

    fileprivate func end(_ number: UInt64) {
      state.withLock { state in
        state.tags[number] = nil
        state.flights[number] = nil
      }
    }
  }

  /// The permit of one request, valid until it is revoked or released.
  final class StorePermit: Sendable {
    fileprivate let number: UInt64
    private let permits: StorePermits

    fileprivate init(number: UInt64, permits: StorePermits) {
      self.number = number
      self.permits = permits
    }

    deinit { permits.end(number) }

    var isValid: Bool { permits.holds(number) }
  }
#endif
