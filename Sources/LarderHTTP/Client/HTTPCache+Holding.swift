import HTTPTypes
import Larder

extension HTTPCache {
  /// A stored response and the version of its entry.
  struct StoredVariant: Sendable {
    let key: String
    let version: UInt64
    let response: StoredResponse
    let tags: [String]
    let written: Timestamp
    /// Nil for never.
    let expires: Timestamp?

    /// Whether a read at `now` finds it.
    func isThere(at now: Timestamp) -> Bool {
      written <= now && expires.map { now < $0 } != false
    }
  }

  /// All stored responses under a key, from memory if nothing was committed since they were read.
  func held(under key: ResponseKey?, except lost: Set<String>) throws -> [StoredVariant] {
    guard let key else { return [] }
    let held = try remembered(under: key) ?? readVariants(under: key)
    return lost.isEmpty ? held : held.filter { !lost.contains($0.key) }
  }

  /// The stored responses under a key, from memory; nil if only a read of the store can tell.
  func remembered(under key: ResponseKey) -> [StoredVariant]? {
    guard key.bodyDigest == nil else { return nil }
    return remembered.variants(
      of: key.uri, transaction: namespace.store.lastTransaction, at: clock.now)
  }

  private func readVariants(under key: ResponseKey) throws -> [StoredVariant] {
    let transaction = try namespace.store.snapshotNumber
    var size = key.uri.utf8.count
    let held = try entries(of: key).compactMap { entry -> StoredVariant? in
      guard let name = entry.key.string, entry.state == .fresh, let metadata = entry.metadata,
        var response = StoredResponse(metadata: metadata, bodySize: entry.size)
      else { return nil }
      response.readTerms(for: rules.policy)
      size += 2 * (name.utf8.count + metadata.count)
      return StoredVariant(
        key: name, version: entry.version, response: response, tags: entry.tags,
        written: entry.written, expires: entry.expires)
    }
    // Nothing was committed between the first read and the last one.
    if key.bodyDigest == nil, namespace.store.lastTransaction == transaction {
      remembered.keep(held, of: key.uri, transaction: transaction, size: size)
    }
    return held
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

  /// A received body that is to be stored.
  enum ReceivedBody: Sendable {
    case whole([UInt8])
    /// One of which the first parts are stored already.
    case written(BodyWriter, last: [UInt8], index: Int)

    var count: Int {
      switch self {
      case .whole(let bytes): bytes.count
      case .written(let writer, let last, let index): index * writer.parts.size + last.count
      }
    }
  }

  /// Stores and removes responses as `reception` says. Returns where the received body is stored; nil if it is not.
  ///
  /// A stored body that another exchange has replaced stays: that exchange had newer information.
  @discardableResult
  func keep(
    _ reception: CacheReception, of arrival: Arrival, received: ReceivedBody
  ) async throws -> StoredBody? {
    guard let uri = arrival.key else { return nil }
    var kept: StoredBody?
    var lost: Set<String> = []
    var reserved = 0
    defer { buffers.release(reserved) }
    for (stored, source) in reception.stores {
      var response = stored
      let key = uri.key(credential: response.credential, vary: response.vary)
      var version: UInt64?
      var body: ReceivedBody?
      switch source {
      case .received:
        body = received
        response.bodyID = .random(in: .min ... .max)
      case .stored(let index):
        let held = arrival.held[index]
        if held.key == key { version = held.version }
        if response.parts != nil { break }
        // Without room for the body the validation is not recorded, and the next request validates again.
        guard buffers.reserve(held.response.bodySize) else { continue }
        reserved += held.response.bodySize
        guard let stored = try self.bytes(of: held, lost: &lost) else { continue }
        body = .whole(stored)
      case .joined(let joined):
        let size = arrival.held[joined.stored].response.bodySize
        guard case .whole(let bytes) = received, buffers.reserve(size) else { continue }
        reserved += size
        guard let stored = try self.bytes(of: arrival.held[joined.stored], lost: &lost) else {
          continue
        }
        body = .whole(joined.joined(stored: stored, received: bytes))
        response.bodyID = .random(in: .min ... .max)
      }
      let isSet = try await commit(
        &response, body, under: key, of: uri, arrival, over: version)
      if isSet {
        kept = StoredBody(
          key: key, version: nil, id: response.bodyID, count: response.bodySize,
          parts: response.parts)
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
    let used = try others.map { variant in
      let entry = try namespace.entry(for: variant.key)
      return (key: variant.key, last: entry?.lastUsed ?? variant.written)
    }
    for variant in used.sorted(by: { $0.last < $1.last }).prefix(surplus) {
      _ = try await remove(variant.key)
    }
  }

  func attributes(
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
      _ = try await remove(held.key, if: { $0.version == held.version })
    }
  }

  /// Removes a stored response. Clients that read its body read on.
  func remove(
    _ key: some StoreKey & Sendable,
    if isUnwanted: @escaping @Sendable (Store.Entry) -> Bool = { _ in true }
  ) async throws -> Bool {
    try await namespace.store.commit { [namespace] batch in
      guard let entry = try batch.entry(for: key, in: namespace), isUnwanted(entry) else {
        return false
      }
      if let parts = try batch.bodyParts(of: key, in: namespace) {
        try batch.release(parts, in: namespace)
      }
      return try batch.remove(key, from: namespace)
    }
  }
}
