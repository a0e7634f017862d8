#if HTTP
  import Larder

  /// The entries of a body that is too long for the value of its response's entry.
  ///
  /// The entry `body ID` is empty. The parts `body ID 0`, `body ID 1` and so on belong to it, and so does the entry of the response:
  /// the store removes all of them together. No key of a response begins like that, since each contains `://`.
  ///
  /// Until the response is stored the entries have the lifetime ``lease``, so a process that ends in between leaves nothing for
  /// longer. After another body has replaced this one they have the lifetime ``grace``, which a client that still reads extends.
  struct BodyParts: Hashable, Sendable {
    /// The longest body that is the value of the response's entry: it is read in one piece.
    static let largestWhole = IncomingBody.pieceSize
    /// The length of a part where the namespace allows values of that length.
    static let usualSize = 1 << 18
    /// The longest body that a record may claim to have.
    static let largestBody: Int64 = 1 << 50
    /// The lifetime of the entries while the body comes, from the last part on.
    static let lease = Duration.seconds(600)
    /// The lifetime of the entries of a replaced body, from the last piece that a client has read on.
    static let grace = Duration.seconds(120)

    /// ``StoredResponse/bodyID``.
    let id: UInt64
    /// The length of each part but the last.
    let size: Int

    /// The key of the entry that the others belong to.
    var root: String { "body " + String(id, radix: 16) }

    func key(_ index: Int) -> String { "\(root) \(index)" }

    /// The length of a part of a body with `count` bytes.
    func length(of index: Int, in count: Int) -> Int { min(size, count - index * size) }

    func owner(in namespace: Store.Namespace) -> Owner { Owner(Key(root), in: namespace.name) }
  }

  extension WriteBatch {
    /// Stores a part of a body.
    ///
    /// - Returns: false if the store has removed the parts before it.
    mutating func add(
      _ part: [UInt8], _ index: Int, of parts: BodyParts, in namespace: Store.Namespace
    ) throws -> Bool {
      let lease = Expiration.after(BodyParts.lease)
      if index == 0 {
        var attributes = EntryAttributes(expires: lease)
        attributes.stale = .zero
        try set([UInt8](), for: parts.root, in: namespace, attributes)
      } else if try !touch(parts.root, in: namespace, expires: lease) {
        return false
      }
      var attributes = EntryAttributes(expires: .never)
      attributes.owners = [parts.owner(in: namespace)]
      try set(part, for: parts.key(index), in: namespace, attributes)
      return true
    }

    /// Gives the entries of a body the lifetime and the tags of its response.
    ///
    /// - Returns: false if the store has removed them.
    mutating func keep(
      _ parts: BodyParts, in namespace: Store.Namespace, _ response: EntryAttributes
    ) throws -> Bool {
      guard let root = try entry(for: parts.root, in: namespace), root.state != .expired else {
        return false
      }
      var attributes = EntryAttributes(expires: response.expires)
      attributes.stale = response.stale
      attributes.tags = response.tags
      try set([UInt8](), for: parts.root, in: namespace, attributes)
      return true
    }

    /// The parts of the body of the response under `key`; nil if there is no such response, or its body is the value.
    mutating func bodyParts(
      of key: some StoreKey, in namespace: Store.Namespace
    ) throws -> BodyParts? {
      guard let entry = try entry(for: key, in: namespace), let metadata = entry.metadata,
        ResponseMetadata.mayHaveParts(metadata)
      else { return nil }
      return StoredResponse(metadata: metadata, bodySize: entry.size)?.parts
    }

    /// Lets the parts of a body go that no response has any more: clients that read them read on.
    mutating func release(_ parts: BodyParts, in namespace: Store.Namespace) throws {
      _ = try touch(parts.root, in: namespace, expires: .after(BodyParts.grace))
    }
  }
#endif
