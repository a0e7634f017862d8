import Synchronization

/// Which requests under way may still store what they bring.
///
/// Who ends what is stored of a host, a user or a URI means also what was asked for before and comes later.
final class StoreTokens: Sendable {
  private struct State {
    var last: UInt64 = 0
    var tags: [UInt64: Set<String>] = [:]
  }

  private let state = Mutex(State())

  /// To be asked for before the request is sent.
  func issue(_ tags: Set<String>) -> Permit {
    let number = state.withLock { state in
      state.last += 1
      state.tags[state.last] = tags
      return state.last
    }
    return Permit(number: number, permits: self)
  }

  /// Gives a permit more tags, if it is still good.
  func add(_ tags: [String], to permit: Permit) {
    if tags.isEmpty { return }
    state.withLock { $0.tags[permit.number]?.formUnion(tags) }
  }

  /// Ends those with the tag, all but one. To be called before what is stored is removed: what a permit that was still
  /// good has let be stored is removed with it.
  ///
  /// - Complexity: O(requests under way).
  func revoke(_ tag: String, except spared: Permit? = nil) {
    state.withLock { state in
      for (number, tags) in state.tags where tags.contains(tag) && number != spared?.number {
        state.tags[number] = nil
      }
    }
  }

  fileprivate func holds(_ number: UInt64) -> Bool { state.withLock { $0.tags[number] != nil } }

  fileprivate func end(_ number: UInt64) { state.withLock { $0.tags[number] = nil } }
}

/// One request's, for as long as somebody holds it.
final class Permit: Sendable {
  fileprivate let number: UInt64
  private let permits: StoreTokens

  fileprivate init(number: UInt64, permits: StoreTokens) {
    self.number = number
    self.permits = permits
  }

  deinit { permits.end(number) }

  var isValid: Bool { permits.holds(number) }
}
