#if HTTP
  import HTTPTypes
  import Larder

  enum ReceivedBody: Sendable {
    case whole([UInt8])
    /// A body whose first parts are already stored.
    case written(BodyWriter, last: [UInt8], index: Int)

    var count: Int {
      switch self {
      case .whole(let bytes): bytes.count
      case .written(let writer, let last, let index): index * writer.parts.size + last.count
      }
    }
  }

  extension OriginResponse {
    /// Stores a response, even if the client's task is cancelled. A failure is only reported, because the client gets a response.
    func storeOrReport(_ reception: CacheReception, _ received: ReceivedBody) async -> StoredBody? {
      do {
        // A cancelled task writes nothing, so a task of its own stores the response.
        return try await Task { try await store(reception, received) }.value
      } catch {
        cache.report(error)
        // A response that cannot be stored, for example in a full store, still ends the stored response.
        await removeOrReport(reception.removes, after: error)
        return nil
      }
    }

    /// Stores and removes responses as `reception` says. Returns the place of the stored body; nil if the body is not stored.
    /// If another exchange has stored a newer response meanwhile, the newer response stays.
    func store(_ reception: CacheReception, _ received: ReceivedBody) async throws -> StoredBody? {
      guard let uri = exchange.client.key else { return nil }
      var kept: StoredBody?
      var keys: Set<String> = []
      var reserved = 0
      defer { cache.buffers.release(reserved) }
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
          version = exchange.held[index].key == key ? exchange.held[index].version : nil
          // Parts belong to one response, so a response under another key gets a copy of the body.
          if version != nil, response.parts != nil { break }
          // If the stored body is gone, the validation is not recorded, and the next request validates again.
          guard let bytes = try storedBytes(index, &reserved) else { continue }
          body = .whole(bytes)
        case .joined(let joined):
          guard case .whole(let bytes) = received,
            let stored = try storedBytes(joined.stored, &reserved)
          else { continue }
          body = .whole(joined.joined(stored: stored, received: bytes))
          response.bodyID = .random(in: .min ... .max)
        }
        if try await commit(&response, body, under: key, of: uri, over: version) {
          keys.insert(key)
          kept = StoredBody(key: key, version: nil, response: response)
          // The response is already stored, so an error is only reported.
          do { try await removeSurplus(beside: key, of: uri) } catch { cache.report(error) }
        }
      }
      try await remove(reception.removes.filter { !keys.contains(exchange.held[$0].key) })
      return kept
    }

    /// The bytes of a stored body; nil if the body is gone or damaged, or has no room in memory. Adds its length to `reserved`.
    func storedBytes(_ index: Int, _ reserved: inout Int) throws -> [UInt8]? {
      let body = exchange.held[index].body
      guard cache.buffers.reserve(body.count) else { return nil }
      reserved += body.count
      return try cache.namespace.piece(of: body, 0..<body.count, as: .first)
    }

    /// If a URI has more variants than the policy allows, removes the least recently used ones, because a hit reads all variants.
    ///
    /// Reads the store again, because other exchanges may have stored variants meanwhile. Only variants that were stored before
    /// `key` are removed, so two exchanges never remove each other's variants.
    private func removeSurplus(beside key: String, of uri: ResponseKey) async throws {
      let variants = try cache.responses.entries(of: uri)
      guard let newest = variants.first(where: { $0.key.string == key }) else { return }
      let earlier = variants.filter { $0.version < newest.version && $0.state == .fresh }
      let surplus = earlier.count + 1 - max(1, cache.rules.policy.largestVariantCount)
      guard surplus > 0 else { return }
      let used = earlier.sorted { ($0.lastUsed ?? $0.written) < ($1.lastUsed ?? $1.written) }
      for variant in used.prefix(surplus) {
        try await cache.responses.remove(variant.key, version: variant.version)
      }
    }

    private func attributes(
      of response: StoredResponse, under key: String, of uri: ResponseKey
    ) -> EntryAttributes {
      let policy = cache.rules.policy
      var attributes = EntryAttributes(expires: .at(response.keptUntil(policy: policy)))
      attributes.stale = .zero
      attributes.entityTag = response.fields[fields: .eTag].first?.valueBytes
      attributes.lastModified = response.fields[fields: .lastModified].first?.valueBytes
      attributes.metadata = response.encodedMetadata()
      attributes.tags = [ResponseTags.host(uri.host)]
      if response.credential != nil {
        attributes.tags += Principal(exchange.forward.original, policy: policy).tags
      }
      // A response, also under a new key, keeps the tags of earlier requests, so that each of these tags removes the response.
      let forward = exchange.forward
      let former = cache.rules.selected(by: forward.original, among: forward.stored)
      attributes.tags += exchange.client.tags
      attributes.tags += former.flatMap { exchange.held[$0].tags }.filter { !CacheGroups.isTag($0) }
      attributes.tags += CacheGroups.tags(.cacheGroups, in: response.fields, of: uri.origin)
      return attributes
    }

    /// Stores a response and its body if the permit is valid and the entry has the version `version`. Returns false if nothing
    /// is stored. A reader finds the response and the body, or neither. `body` is nil if the response keeps its body in parts.
    private func commit(
      _ response: inout StoredResponse, _ body: ReceivedBody?, under key: String,
      of uri: ResponseKey, over version: UInt64?
    ) async throws -> Bool {
      guard case .whole(let bytes) = body, bytes.count > BodyParts.largestWhole else {
        return try await commitLast(&response, body, under: key, of: uri, over: version)
      }
      let writer = try BodyWriter(
        in: cache.namespace, largest: cache.rules.policy.largestBody, permit: exchange.permit)
      guard bytes.count <= writer.largest else { return false }
      do {
        if let (last, index) = try await writer.writeAllButLast(of: bytes),
          try await commitLast(
            &response, .written(writer, last: last, index: index), under: key, of: uri,
            over: version)
        {
          return true
        }
      } catch {
        try await writer.discard()
        throw error
      }
      try await writer.discard()
      return false
    }

    /// Stores a response and the rest of its body in one commit.
    private func commitLast(
      _ response: inout StoredResponse, _ body: ReceivedBody?, under key: String,
      of uri: ResponseKey, over version: UInt64?
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
      let (parts, permit, namespace) = (response.parts, exchange.permit, cache.namespace)
      let common = attributes(of: response, under: key, of: uri)
      let variance = uri.bodyDigest == nil ? SearchVariance(response.fields) : nil
      return try await namespace.store.commit(size: value.count + (last?.part.count ?? 0)) {
        [value, last, response, exchange] batch in
        guard try permit.isValid(for: key, of: uri, common.tags, in: namespace, &batch) else {
          return false
        }
        let present = try batch.entry(for: key, in: namespace)
        if let version, present?.version != version || present?.state == .expired { return false }
        if let present, exchange.isLate(response, for: key, holding: present) { return false }
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
        if let variance {
          try batch.note(variance, of: uri, under: key, in: namespace, until: common.expires)
        }
        if let replaced, replaced.id != parts?.id { try batch.release(replaced, in: namespace) }
        return true
      }
    }
  }
#endif
