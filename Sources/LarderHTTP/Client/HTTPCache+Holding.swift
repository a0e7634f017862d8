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

  /// All stored responses of the request's URI.
  func held(for request: HTTPRequest, except lost: Set<String>) throws -> [StoredVariant] {
    guard let key = ResponseKey(request, policy: rules.policy) else { return [] }
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
    var entries = try namespace.entry(for: key.base).map { [$0] } ?? []
    var page = try namespace.page(limit: 100, prefix: key.variantPrefix)
    entries += page.items
    while let cursor = page.next {
      page = try namespace.page(limit: 100, after: cursor, prefix: key.variantPrefix)
      entries += page.items
    }
    return entries
  }

  /// The body of an answer; nil if the stored body is gone, and its key is then added to `lost`.
  func body(
    of answer: CacheAnswer, from held: [StoredVariant], lost: inout Set<String>
  ) throws -> [UInt8]? {
    switch answer.body {
    case .none, .joined: []
    case .stored(let index): try bytes(of: held[index], lost: &lost)
    case .part(let index, let range):
      try bytes(of: held[index], lost: &lost).map { Array($0[range.clamped(to: 0..<$0.count)]) }
    }
  }

  /// The body of that version; nil if the entry was replaced, evicted or damaged.
  func bytes(of held: StoredVariant, lost: inout Set<String>) throws -> [UInt8]? {
    let bytes: [UInt8]? = try namespace.store.read { moment in
      guard try moment.entry(for: held.key, in: namespace)?.version == held.version else {
        return nil
      }
      guard let bytes = try moment.value(for: held.key, in: namespace) else {
        lost.insert(held.key)
        return nil
      }
      return bytes
    }
    return bytes
  }

  /// Stores and removes responses as `reception` says. Returns whether a response was stored.
  ///
  /// A stored body that another exchange has replaced stays: that exchange had newer information.
  func keep(
    _ reception: CacheReception, of arrival: Arrival, received: [UInt8]
  ) async throws -> Bool {
    guard let uri = ResponseKey(arrival.forward.original, policy: rules.policy) else {
      return false
    }
    var isStored = false
    var lost: Set<String> = []
    let permit = arrival.permit
    for (response, body) in reception.stores {
      let key = uri.key(credential: response.credential, vary: response.vary)
      let attributes = attributes(of: response, under: key, of: uri, arrival)
      var version: UInt64?
      let bytes: [UInt8]
      switch body {
      case .received: bytes = received
      case .stored(let index):
        let held = arrival.held[index]
        guard let stored = try self.bytes(of: held, lost: &lost) else { continue }
        if held.key == key { version = held.version }
        bytes = stored
      case .joined(let joined):
        guard let stored = try self.bytes(of: arrival.held[joined.stored], lost: &lost) else {
          continue
        }
        bytes = joined.joined(stored: stored, received: received)
      }
      let isSet = try await namespace.set(
        bytes, for: key, attributes, over: version, if: { permit.isValid })
      if isSet {
        isStored = true
        try await removeSurplus(of: arrival.held, beside: key)
      }
    }
    let replaced = reception.stores.map {
      uri.key(credential: $0.response.credential, vary: $0.response.vary)
    }
    try await drop(
      reception.removes.filter { !replaced.contains(arrival.held[$0].key) }, of: arrival)
    return isStored
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
