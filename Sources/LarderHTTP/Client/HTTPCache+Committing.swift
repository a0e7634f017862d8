import Larder
import Synchronization

extension HTTPCache {
  /// Stores a response and its body, if the permit holds and the version is still there. Other processes see both at once.
  ///
  /// - Parameter body: nil for a response whose body is stored in parts and stays.
  /// - Returns: false if nothing is stored.
  func commit(
    _ response: inout StoredResponse, _ body: ReceivedBody?, under key: String,
    of uri: ResponseKey, _ arrival: Arrival, over version: UInt64?
  ) async throws -> Bool {
    guard case .whole(let bytes) = body, bytes.count > BodyParts.largestWhole else {
      return try await commitLast(&response, body, under: key, of: uri, arrival, over: version)
    }
    let writer = try BodyWriter(
      in: namespace, largest: rules.policy.largestBody, permit: arrival.permit)
    guard bytes.count <= writer.largest else { return false }
    var isSet = false
    do {
      if let (last, index) = try await writer.writeAllButLast(of: bytes) {
        isSet = try await commitLast(
          &response, .written(writer, last: last, index: index), under: key, of: uri, arrival,
          over: version)
      }
    } catch {
      try await writer.discard()
      throw error
    }
    if !isSet { try await writer.discard() }
    return isSet
  }

  /// Stores a response and the rest of its body in one commit.
  private func commitLast(
    _ response: inout StoredResponse, _ body: ReceivedBody?, under key: String,
    of uri: ResponseKey, _ arrival: Arrival, over version: UInt64?
  ) async throws -> Bool {
    var value: [UInt8] = []
    var last: (part: [UInt8], index: Int)?
    switch body {
    case .whole(let bytes):
      value = bytes
      response.partSize = nil
    case .written(let writer, let part, let index):
      last = (part, index)
      response.bodyID = writer.parts.id
      response.partSize = writer.parts.size
    case nil: break
    }
    if let body { response.bodySize = body.count }
    let (parts, permit) = (response.parts, arrival.permit)
    let common = attributes(of: response, under: key, of: uri, arrival)
    return try await namespace.store.commit(size: value.count + (last?.part.count ?? 0)) {
      [namespace, value, last] batch in
      guard permit.isValid else { return false }
      let present = try batch.entry(for: key, in: namespace)
      if let version, present?.version != version || present?.state == .expired { return false }
      let replaced = try batch.bodyParts(of: key, in: namespace)
      var attributes = common
      if let parts {
        if let (part, index) = last {
          guard try batch.add(part, index, of: parts, in: namespace) else { return false }
        }
        guard try batch.keep(parts, in: namespace, attributes) else { return false }
        attributes.owners = [parts.owner(in: namespace)]
      }
      try batch.set(value, for: key, in: namespace, attributes)
      if let replaced, replaced.id != parts?.id { try batch.release(replaced, in: namespace) }
      return true
    }
  }
}

/// The requests under way that may still store their responses.
///
/// An invalidation of a host, a user or a URI also applies to responses that were requested before it and arrive after it.
final class StoreTokens: Sendable {
  private struct State {
    var last: UInt64 = 0
    var tags: [UInt64: Set<String>] = [:]
  }

  private let state = Mutex(State())

  /// Call this before the request is sent.
  func issue(_ tags: Set<String>) -> Permit {
    let number = state.withLock { state in
      state.last += 1
      state.tags[state.last] = tags
      return state.last
    }
    return Permit(number: number, permits: self)
  }

  /// Adds tags to a valid permit.
  func add(_ tags: [String], to permit: Permit) {
    if tags.isEmpty { return }
    state.withLock { $0.tags[permit.number]?.formUnion(tags) }
  }

  /// Revokes all permits with the tag except `spared`. Call this before the stored responses are removed, so that a response
  /// stored under a valid permit is removed, too.
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

/// The permit of one request, valid until it is revoked or released.
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
