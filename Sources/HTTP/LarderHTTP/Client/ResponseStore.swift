#if HTTP
  import HTTPTypes
  import Larder

  /// A stored response in the state that a read has found, with the version of its entry.
  struct StoredVariant: Sendable {
    let key: String
    let version: UInt64
    let response: StoredResponse
    let tags: [String]
    let written: Timestamp
    /// The time at which the entry expires; nil if the entry never expires.
    let expires: Timestamp?

    var body: StoredBody { StoredBody(key: key, version: version, response: response) }

    func isThere(at now: Timestamp) -> Bool { written <= now && expires.map { now < $0 } != false }
  }

  /// The stored responses of a cache in their namespace. A URI can have any number of stored responses.
  struct ResponseStore: Sendable {
    let namespace: Store.Namespace
    let permits = StorePermits()
    private let known = RememberedResponses()

    init(in namespace: Store.Namespace) { self.namespace = namespace }

    /// The stored responses under a key except `lost`, from memory if no process has written to the store since the last read.
    func variants(
      under key: ResponseKey?, except lost: Set<String> = [], policy: HTTPCachePolicy
    ) throws -> [StoredVariant] {
      guard let key else { return [] }
      let variants = try remembered(under: key) ?? read(under: key, policy: policy)
      return lost.isEmpty ? variants : variants.filter { !lost.contains($0.key) }
    }

    /// The stored responses under a key, from memory; nil if a read of the store is needed.
    func remembered(under key: ResponseKey) -> [StoredVariant]? {
      guard key.bodyDigest == nil else { return nil }
      let store = namespace.store
      return known.variants(of: key.uri, transaction: store.lastCommit, at: store.clock.now)
    }

    private func read(under key: ResponseKey, policy: HTTPCachePolicy) throws -> [StoredVariant] {
      let transaction = try namespace.store.snapshotNumber
      var size = key.uri.utf8.count
      let variants = try entries(of: key).compactMap { entry -> StoredVariant? in
        guard let name = entry.key.string, entry.state == .fresh, let metadata = entry.metadata,
          var response = StoredResponse(metadata: metadata, bodySize: entry.size)
        else { return nil }
        response.terms.known = StoredTerms.Known(of: response, for: policy)
        size += 2 * (name.utf8.count + metadata.count)
        return StoredVariant(
          key: name, version: entry.version, response: response, tags: entry.tags,
          written: entry.written, expires: entry.expires)
      }
      // After a write between the first and the last read, the variants belong to no single state, so they are not kept.
      if key.bodyDigest == nil, namespace.store.lastCommit == transaction {
        known.keep(variants, of: key.uri, transaction: transaction, size: size)
      }
      return variants
    }

    func entries(of key: ResponseKey) throws -> [Store.Entry] {
      var entries = try namespace.entry(for: key.base).map { [$0] } ?? []
      try namespace.scanEntries(prefix: Array(key.variantPrefix.utf8)) { entry, _ in
        entries.append(entry)
        return true
      }
      return entries
    }

    /// A permit for a request that has not read the store yet. `tags` are the tags of the client.
    func permit(
      for request: HTTPRequest, under key: ResponseKey?, _ tags: [String], policy: HTTPCachePolicy
    ) -> StorePermit {
      var all: Set<String> = []
      if let key {
        let shared = [ResponseTags.uri(key), ResponseTags.origin(key), ResponseTags.host(key.host)]
        all = Set(tags + shared + Principal(request, policy: policy).tags)
      }
      return permits.issue(all, in: namespace.store)
    }

    /// Removes a stored response if it has this version. A client that is reading the body can read to the end.
    func remove(_ key: some StoreKey & Sendable, version: UInt64) async throws {
      try await namespace.store.commit { [namespace] batch in
        guard try batch.entry(for: key, in: namespace)?.version == version else { return }
        _ = try batch.removeResponse(key, from: namespace)
      }
    }

    /// The most responses that one commit removes. A commit that changes more pages may fail if few pages are free.
    private static let mostRemoved = 16

    /// Removes stored responses in one commit. Counts only responses that were still stored.
    private func remove(_ entries: [Store.Entry]) async throws -> RemovalResult {
      if entries.isEmpty { return RemovalResult() }
      return try await namespace.store.commit { [namespace] batch in
        var removal = RemovalResult()
        for entry in entries where try batch.removeResponse(entry.key, from: namespace) {
          removal.entries += 1
          removal.bytes += StoredResponse(entry)?.bodySize ?? entry.size
        }
        return removal
      }
    }

    /// Removes all stored responses of a URI.
    ///
    /// - Parameter permit: the permit of the request that causes the removal. The response to this request may still be stored.
    @discardableResult
    func removeAll(
      of key: ResponseKey, policy: HTTPCachePolicy, by permit: StorePermit? = nil
    ) async throws -> RemovalResult {
      let tag = ResponseTags.uri(key)
      let flights = permits.revoke(tag, except: permit)
      defer { for flight in flights { flight.complete(.abandoned) } }
      // A load that began before this commit stores nothing after the commit. The reads below see all responses stored before.
      try await namespace.store.commit { batch in batch.refuseEarlierLoads(tagged: tag) }
      var removal = RemovalResult()
      var entries = try entries(of: key)
      // `No-Vary-Search` lets a response of another URI answer this URI, so that response is removed, too.
      if let other = try equivalent(of: key) { entries += try self.entries(of: other) }
      var groups = Set(entries.flatMap(\.tags)).filter(CacheGroups.isTag)
      for start in stride(from: 0, to: entries.count, by: Self.mostRemoved) {
        removal += try await remove(Array(entries[start...].prefix(Self.mostRemoved)))
      }
      if policy.rules.contains(where: { !$0.bodyMethods.isEmpty }) {
        // A URI can have millions of responses to bodies, so each page is removed before the next page is read.
        removal += try await removeAll(prefix: key.bodyPrefix) { entry, _ in
          groups.formUnion(entry.tags.filter(CacheGroups.isTag))
          return true
        }
      }
      // RFC 9875, 2.2.1: an unsafe request also invalidates the groups of the invalidated responses, but no further groups.
      if permit != nil { for tag in groups { _ = try invalidate(tag) } }
      return removal
    }

    /// Removes the responses of an origin for one user or without a user; if `credential` is nil, all responses of the origin.
    func removeAll(ofOrigin key: ResponseKey, for credential: String?) async throws {
      let tag = ResponseTags.origin(key)
      let flights = permits.revoke(tag)
      defer { for flight in flights { flight.complete(.abandoned) } }
      try await namespace.store.commit { batch in batch.refuseEarlierLoads(tagged: tag) }
      let prefix = key.origin + "/"
      // If the prefix is long, the keys of long URIs lack its end. So all responses of the host are removed.
      guard prefix.utf8.count <= ResponseKey.shortestBeginning else {
        _ = try invalidate(ResponseTags.host(key.host))
        return
      }
      _ = try await removeAll(prefix: prefix) { _, response in
        guard let credential, let own = response?.credential else { return true }
        return own == credential
      }
    }

    /// Removes the entries with this prefix for which `isUnwanted` returns true. Nil: the entry is not a response.
    func removeAll(
      prefix: String = "", where isUnwanted: (Store.Entry, StoredResponse?) throws -> Bool
    ) async throws -> RemovalResult {
      var removal = RemovalResult()
      var cursor: PageCursor?
      repeat {
        let page = try namespace.page(limit: Self.mostRemoved, after: cursor, prefix: prefix)
        removal += try await remove(page.items.filter { try isUnwanted($0, StoredResponse($0)) })
        cursor = page.next
      } while cursor != nil
      return removal
    }

    /// Removes all responses with a tag, and revokes the permits of requests under way for such responses.
    func invalidate(_ tag: String) throws -> RemovalResult {
      let flights = permits.revoke(tag)
      defer { for flight in flights { flight.complete(.abandoned) } }
      return try namespace.invalidate(tag: tag)
    }
  }
#endif
