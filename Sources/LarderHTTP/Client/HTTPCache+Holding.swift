import HTTPTypes
import Larder

extension HTTPCache {
  /// A stored response and the version of its entry.
  struct StoredVariant: Sendable {
    let key: String
    let version: UInt64
    let response: StoredResponse
    let tags: [String]
    let lastUsed: Timestamp
  }

  /// All stored responses under a key.
  func held(under key: ResponseKey?, except lost: Set<String>) throws -> [StoredVariant] {
    guard let key else { return [] }
    return try entries(of: key).compactMap { entry in
      guard let name = entry.key.string, !lost.contains(name), entry.state == .fresh,
        let metadata = entry.metadata,
        let response = StoredResponse(metadata: metadata, bodySize: entry.size)
      else { return nil }
      return StoredVariant(
        key: name, version: entry.version, response: response, tags: entry.tags,
        lastUsed: entry.lastUsed ?? entry.written)
    }
  }

  func entries(of key: ResponseKey) throws -> [Store.Entry] {
    let entry = try namespace.entry(for: key.base).map { [$0] } ?? []
    return try entry + entries(with: key.variantPrefix)
  }

  func entries(with prefix: String) throws -> [Store.Entry] {
    var page = try namespace.page(limit: 100, prefix: prefix)
    var entries = page.items
    while let cursor = page.next {
      page = try namespace.page(limit: 100, after: cursor, prefix: prefix)
      entries += page.items
    }
    return entries
  }

  /// Stores and removes responses as `reception` says. Returns where the received body is stored; nil if it is not.
  ///
  /// A stored body that another exchange has replaced stays: that exchange had newer information.
  @discardableResult
  func keep(
    _ reception: CacheReception, of arrival: Arrival, received: [UInt8]
  ) async throws -> StoredBody? {
    guard let uri = arrival.key else { return nil }
    var kept: StoredBody?
    var lost: Set<String> = []
    let permit = arrival.permit
    var reserved = 0
    defer { buffers.release(reserved) }
    for (stored, source) in reception.stores {
      var response = stored
      let key = uri.key(credential: response.credential, vary: response.vary)
      var version: UInt64?
      let bytes: [UInt8]
      switch source {
      case .received:
        bytes = received
        response.bodyID = .random(in: .min ... .max)
      case .stored(let index):
        let held = arrival.held[index]
        // Without room for the body the validation is not recorded, and the next request validates again.
        guard buffers.reserve(held.response.bodySize) else { continue }
        reserved += held.response.bodySize
        guard let stored = try self.bytes(of: held, lost: &lost) else { continue }
        if held.key == key { version = held.version }
        bytes = stored
      case .joined(let joined):
        guard let stored = try self.bytes(of: arrival.held[joined.stored], lost: &lost) else {
          continue
        }
        bytes = joined.joined(stored: stored, received: received)
        response.bodyID = .random(in: .min ... .max)
      }
      let isSet = try await namespace.set(
        bytes, for: key, attributes(of: response, under: key, of: uri, arrival), over: version,
        if: { permit.isValid })
      if isSet {
        kept = StoredBody(key: key, version: nil, id: response.bodyID, count: bytes.count)
        try await removeSurplus(of: arrival.held, beside: key)
      }
    }
    let replaced = reception.stores.map {
      uri.key(credential: $0.response.credential, vary: $0.response.vary)
    }
    try await drop(
      reception.removes.filter { !replaced.contains(arrival.held[$0].key) }, of: arrival)
    return kept
  }

  /// Keeps the number of variants of a URI within the policy: a hit looks at all of them.
  private func removeSurplus(of held: [StoredVariant], beside key: String) async throws {
    let others = held.filter { $0.key != key }
    let surplus = others.count + 1 - max(1, rules.policy.largestVariantCount)
    guard surplus > 0 else { return }
    for variant in others.sorted(by: { $0.lastUsed < $1.lastUsed }).prefix(surplus) {
      _ = try await namespace.remove(variant.key)
    }
  }

  private func attributes(
    of response: StoredResponse, under key: String, of uri: ResponseKey, _ arrival: Arrival
  ) -> EntryAttributes {
    var attributes = EntryAttributes(expires: .at(response.keptUntil(policy: rules.policy)))
    attributes.stale = .zero
    attributes.entityTag = response.fields[fields: .eTag].first?.valueBytes
    attributes.lastModified = response.fields[fields: .lastModified].first?.valueBytes
    attributes.metadata = response.encodedMetadata()
    attributes.tags = [ResponseTags.host(uri.host)]
    if response.credential != nil {
      attributes.tags += Principal(arrival.forward.original, policy: rules.policy).tags
    }
    // A response keeps the tags of earlier requests.
    attributes.tags += arrival.tags + arrival.held.filter { $0.key == key }.flatMap(\.tags)
    return attributes
  }

  func drop(_ indexes: [Int], of arrival: Arrival) async throws {
    for index in indexes {
      let held = arrival.held[index]
      guard try namespace.entry(for: held.key)?.version == held.version else { continue }
      _ = try await namespace.remove(held.key)
    }
  }
}
