#if HTTP
  import Larder

  /// Stored responses that also answer other queries (No-Vary-Search, section 7).
  ///
  /// A response with this field has two further entries. The entry of the path holds the field of the path's last response. The
  /// entry of the query's parts that count holds the URI. Both entries are read if the exact URI has no answer.
  extension ResponseStore {
    /// The responses of another URI that answer this URI, too; nil without such responses.
    func equivalents(
      of key: ResponseKey, except lost: Set<String> = [], policy: HTTPCachePolicy
    ) throws -> [StoredVariant]? {
      guard let other = try equivalent(of: key) else { return nil }
      let variants = try variants(under: other, except: lost, policy: policy).filter { variant in
        guard let variance = SearchVariance(variant.response.fields) else { return false }
        return variance.significant(key.uri) == variance.significant(other.uri)
      }
      return variants.isEmpty ? nil : variants
    }

    /// Another URI with a stored response that may answer this URI, too.
    func equivalent(of key: ResponseKey) throws -> ResponseKey? {
      guard key.bodyDigest == nil, let field = try note(SearchNotes.path(key.uri)),
        let variance = SearchVariance(field),
        let uri = try note(SearchNotes.query(variance.significant(key.uri), of: key.uri)),
        // The entry may be forged, so the URI in it is checked.
        variance.significant(key.uri) == variance.significant(uri), !uri.hasBytes(of: key.uri)
      else { return nil }
      var other = key
      other.uri = uri
      return other
    }

    private func note(_ key: String) throws -> String? {
      guard let entry = try namespace.entry(for: key), entry.state == .fresh else { return nil }
      return entry.metadata.flatMap { String(validating: $0, as: UTF8.self) }
    }
  }

  /// The keys of the two entries. The keys of responses contain `://`, and these keys do not.
  private enum SearchNotes {
    static func path(_ uri: String) -> String {
      "search " + Secrets.hash(String(uri.prefix { $0 != "?" }))
    }

    static func query(_ significant: [UInt8], of uri: String) -> String {
      path(uri) + " " + Secrets.hexadecimal(SHA256.hash(significant).prefix(16))
    }
  }

  extension WriteBatch {
    /// Notes that the response under `key` answers other queries of its path, too.
    mutating func note(
      _ variance: SearchVariance, of uri: ResponseKey, under key: String,
      in namespace: Store.Namespace, until end: Expiration?
    ) throws {
      var attributes = EntryAttributes(expires: end)
      attributes.stale = .zero
      attributes.metadata = Array(variance.field.utf8)
      try set([UInt8](), for: SearchNotes.path(uri.uri), in: namespace, attributes)
      attributes.metadata = Array(uri.uri.utf8)
      attributes.owners = [Owner(Key(key), in: namespace.name)]
      let significant = variance.significant(uri.uri)
      try set(
        [UInt8](), for: SearchNotes.query(significant, of: uri.uri), in: namespace, attributes)
    }
  }
#endif
