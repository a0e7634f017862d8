import Larder

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
