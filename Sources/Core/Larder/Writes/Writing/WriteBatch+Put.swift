import LMDB
import LarderSystem

/// Storing a value under the bytes of its key and the name of its namespace.
extension WriteBatch {
  /// Stores a value, replaces the entry that is there, and evicts others if limits require it.
  ///
  /// It refuses before the first change, except for a lack of room and what a transform throws.
  ///
  /// - Returns: where it is stored, and its header as the memory tier remembers it, without the checksum.
  @discardableResult
  mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in name: String, attributes: EntryAttributes
  ) throws(LarderError) -> (id: NamespaceID, header: EntryHeader) {
    try Self.validate(key, in: name, attributes)
    let known = try writer.directory.find(name, &writer.context)
    if known == nil { try NamespaceName.validate(name) }
    try budget.checkSize(value.count, in: known ?? .new, named: name)
    let lifetime = try Lifetime(
      attributes.expires, stale: attributes.stale, in: known ?? .new, at: writer.context.now)
    let owners = try resolve(
      attributes.owners, ifAbsent: attributes.awaitsOwners ? .allow : .refuse)
    let draft = PutDraft(attributes: attributes, owners: owners, lifetime: lifetime)
    if writer.context.engine.transforms.isEmpty {
      return try put(value, for: key, in: name, known, draft)
    }
    // A transform is told the namespace and the version, so both exist before it runs.
    let namespace =
      if let known { known } else { try writer.directory.findOrMake(name, &writer.context) }
    let entry = TransformContext(
      key.copied, in: namespace.id,
      version: try writer.context.counters.nextNumber(
        in: namespace.id, &writer.context.transaction),
      reader: writer.context.engine.reader)
    let transformed = try writer.context.engine.transforms.apply(to: value, attributes, of: entry)
    if let bytes = transformed.bytes {
      return try put(bytes.span, for: key, in: name, namespace, draft, transformed)
    }
    return try put(value, for: key, in: name, namespace, draft, transformed)
  }

  /// - Parameters:
  ///   - known: the namespace; nil if it is to be made.
  ///   - transformed: what transforms have made of value and metadata, of which `value` has the bytes already.
  private mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in name: String, _ known: KnownNamespace?,
    _ draft: PutDraft, _ transformed: TransformedValue? = nil
  ) throws(LarderError) -> (id: NamespaceID, header: EntryHeader) {
    let isLong = key.count > StoredKey.longestShort
    var fields = try draft.attributes.fields(
      longKey: isLong ? key.copied : nil, owners: draft.owners, transformed)
    fields.idle = draft.idle
    let encodedFields = fields.encoded()
    try countChange(ofBytes: value.count + key.count + encodedFields.count)

    let namespace =
      if let known { known } else { try writer.directory.findOrMake(name, &writer.context) }
    let id = namespace.id
    let entryKey = StoredKey.entry(key, in: id)
    var previous = try clearPlace(at: entryKey, for: key)
    let version =
      if let transformed { transformed.version } else {
        try writer.context.counters.nextNumber(in: id, &writer.context.transaction)
      }
    var header = draft.header(
      key, version: version, replacing: previous, in: namespace, at: writer.context.now)
    header.fieldsCount = UInt32(encodedFields.count)
    if transformed?.steps != nil { header.flags.insert(.transformed) }
    let recordCount = header.encodedSize + encodedFields.count + value.count
    let isChunked = try budget.needsChunks(
      value: value.count, recordCount: recordCount, &writer)
    if isChunked { header.flags.insert(.chunked) }

    let weight = EntryWeight(
      size: value.count, stored: recordCount + (isChunked ? ChunkedPayload.size : 0),
      queuePosition: header.sequence)
    if budget.mayEvict(namespace.rules) {
      let changes = writer.context.transaction.changes
      try makeRoom(
        for: weight, replacing: previous, at: entryKey, key: key, owners: draft.owners,
        isChunked: isChunked, in: namespace)
      if previous != nil, writer.context.transaction.changes != changes {
        previous = try writer.entry(key, in: id)
      }
    }
    try charge(weight, replacing: previous, in: id)
    try writer.store(
      EntryDraft(
        entryKey: entryKey, header: header, fields: fields, encodedFields: encodedFields,
        owners: draft.owners),
      value, key: key, replacing: previous)
    writer.context.engine.access.written(
      Checksum.keyHash(of: key, in: id), isNew: previous == nil, sequence: header.sequence,
      of: id, in: writer.context.now.milliseconds / 60_000)
    try writer.changes.recordSet(
      key, in: id, before: previous?.valueCount, after: value.count, expires: header.expires,
      &writer.directory, &writer.context)
    writer.context.recordWriteTime()
    return (id, header.remembered(draft.idle))
  }

  /// The entry that a write replaces. One that cannot be replaced in place, because it is damaged or belongs to another
  /// long key, is removed from every index first.
  private mutating func clearPlace(
    at entryKey: [UInt8], for key: Span<UInt8>
  ) throws(LarderError) -> StoredEntry? {
    switch try writer.contents(of: entryKey) {
    case .empty:
      return nil
    case .damaged:
      try writer.recordDamage(entryKey)
      return nil
    case .entry(let previous) where previous.has(key):
      return previous
    case .entry(let other):
      try writer.remove(other, reason: .replaced)
      return nil
    }
  }

  /// Throws for a key, a name or tags that cannot be stored.
  static func validate(
    _ key: Span<UInt8>, in name: String, _ attributes: EntryAttributes
  ) throws(LarderError) {
    try Key.validate(count: key.count, in: name)
    for tag in attributes.tags { _ = try EntryAttributes.validated(tag) }
    for owner in attributes.owners where attributes.awaitsOwners {
      try Key.validate(count: owner.key.bytes.count, in: owner.namespace)
      try NamespaceName.validate(owner.namespace)
    }
  }
}

extension Key {
  /// Throws unless a key has a possible number of bytes.
  static func validate(count: Int, in namespace: String) throws(LarderError) {
    guard (1...longest).contains(count) else {
      throw LarderError(
        .invalidArgument, "a key of \(count) bytes cannot be stored in namespace \(namespace)",
        hint: "use 1 to \(longest) bytes")
    }
  }
}

/// The attributes of a value that is about to be stored, as this write resolves them.
private struct PutDraft {
  let attributes: EntryAttributes
  let owners: [StoredOwner]
  let lifetime: Lifetime

  var idle: IdleInterval? { attributes.idle.flatMap { IdleInterval($0) } ?? lifetime.idle }

  /// The header without what depends on the size of the record.
  func header(
    _ key: Span<UInt8>, version: UInt64, replacing previous: StoredEntry?,
    in namespace: KnownNamespace, at now: Timestamp
  ) -> EntryHeader {
    let isPinned = attributes.isPinned ?? previous?.header.flags.contains(.pinned) ?? false
    var flags: EntryHeader.Flags = key.count > StoredKey.longestShort ? .longKey : []
    if isPinned { flags.insert(.pinned) }
    if idle != nil { flags.insert(.idle) }
    if !attributes.tags.isEmpty { flags.insert(.tagged) }
    if attributes.isNegative { flags.insert(.negative) }
    let expires = lifetime.expires(key, version: version)
    var header = EntryHeader(
      flags: flags, codec: attributes.codec.rawValue,
      written: min(attributes.written ?? now, now).milliseconds, expires: expires,
      staleUntil: Lifetime.late(expires, stale: lifetime.stale), deadline: EntryHeader.never,
      sequence: isPinned ? 0 : queuePosition(of: previous, version: version, in: namespace),
      version: version)
    header.deadline = header.indexedDeadline(replacing: previous?.header)
    return header
  }

  /// An overwrite keeps its position in the queue, except where the order is that of writing.
  private func queuePosition(
    of previous: StoredEntry?, version: UInt64, in namespace: KnownNamespace
  ) -> UInt64 {
    guard let previous, previous.header.sequence != 0, namespace.rules.eviction != .fifo else {
      return version
    }
    return previous.header.sequence
  }
}
