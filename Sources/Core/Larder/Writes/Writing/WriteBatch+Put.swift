import LarderSystem

extension WriteBatch {
  /// Stores a value in place of any existing entry, and evicts other entries if limits require it. Only the error for missing
  /// room is thrown after a change. Returns the header in the form of the memory tier, without checksum.
  @discardableResult
  mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in name: String, attributes: EntryAttributes
  ) throws(LarderError) -> Stored {
    try Self.validate(key, in: name, attributes)
    let known = try session.namespace(name)
    if known == nil { try NamespaceName.validate(name) }
    let (limits, rules) = (session.budget.limits, (known ?? .new).rules)
    // The stored size is not known before the transforms have run.
    let stored = session.engine.transforms.isEmpty ? value.count : 0
    try limits.checkSize(value.count, stored: stored, under: rules, named: name)
    let lifetime = try Lifetime(
      attributes.expires, stale: attributes.stale, in: known ?? .new, at: session.now,
      loaded: attributes.loaded)
    // Owners that may be missing are resolved later, because resolving creates their namespaces and the write may still fail.
    let owners = attributes.awaitsOwners ? [] : try resolve(attributes.owners)
    let terms = PutTerms(attributes: attributes, owners: owners, lifetime: lifetime)
    if session.engine.transforms.isEmpty { return try put(value, for: key, in: name, known, terms) }
    // A transform needs the namespace id and the version of the entry, and may throw. So both are read here and taken later.
    let id = if let known { known.id } else { try session.nextID() }
    let entry = TransformContext(
      key.copied, in: id, version: try nextVersion(in: known), reader: session.engine.reader)
    let transformed = try session.engine.transforms.apply(to: value, attributes, of: entry)
    try limits.checkSize(value.count, stored: transformed.bytes?.count, under: rules, named: name)
    if let bytes = transformed.bytes {
      return try put(bytes.span, for: key, in: name, known, terms, transformed)
    }
    return try put(value, for: key, in: name, known, terms, transformed)
  }

  private mutating func nextVersion(in known: KnownNamespace?) throws(LarderError) -> UInt64 {
    guard let known else { return NamespaceCounters().next }
    try session.load(known.id)
    return session.ledger.read(known.id) { $0.next }
  }

  private mutating func put(
    _ value: Span<UInt8>, for key: Span<UInt8>, in name: String, _ known: KnownNamespace?,
    _ terms: PutTerms, _ transformed: TransformedValue? = nil
  ) throws(LarderError) -> Stored {
    let namespace = if let known { known } else { try session.namespaceOrNew(name) }
    let id = namespace.id
    let owners =
      terms.attributes.awaitsOwners
      ? try resolve(terms.attributes.owners, mayBeAbsent: true) : terms.owners
    let isLong = key.count > StoredKey.longestShort
    var fields = try terms.attributes.fields(
      longKey: isLong ? key.copied : nil, owners: owners, transformed)
    fields.idle = terms.idle
    let encodedFields = fields.encoded()
    try countChange(ofBytes: value.count + key.count + encodedFields.count)

    let entryKey = StoredKey.entry(key, in: id)
    var previous = try session.clearPlace(at: entryKey, for: key)
    if let hidden = previous, try session.isHidden(hidden) {
      // The removal of invalidated entries has not reached this entry. Its dependents leave, too, if one batch can remove them.
      try session.remove(hidden, reason: .invalidated)
      previous = nil
    }
    var header = terms.header(
      key, version: try nextVersion(in: namespace), replacing: previous?.header, in: namespace,
      at: session.now)
    if transformed?.steps != nil { header.flags.insert(.transformed) }
    header = try session.store(
      value, for: key, at: entryKey, header, (fields, encodedFields), replacing: previous,
      in: namespace, as: .set)
    // The version is taken only now, because a refused write must take no version.
    _ = try session.nextNumber(in: id)
    session.recordWriteTime()
    return Stored(id: id, header: header.remembered(terms.idle), moment: moment)
  }

  /// Throws if a key, a tag, or an owner that may be written later has an impossible form.
  static func validate(
    _ key: Span<UInt8>, in name: String, _ attributes: EntryAttributes
  ) throws(LarderError) {
    try Key.validate(count: key.count, in: name)
    for tag in attributes.tags { _ = try EntryAttributes.validated(tag) }
    guard attributes.awaitsOwners else { return }
    for owner in attributes.owners {
      try Key.validate(count: owner.key.bytes.count, in: owner.namespace)
      try NamespaceName.validate(owner.namespace)
    }
  }
}

extension WriteSession {
  @discardableResult
  mutating func store(
    _ value: Span<UInt8>, for key: Span<UInt8>, at entryKey: [UInt8], _ header: EntryHeader,
    _ fields: (EntryFields, encoded: [UInt8]), replacing previous: StoredEntry?,
    in namespace: KnownNamespace, as change: EntryChange
  ) throws(LarderError) -> EntryHeader {
    var (header, previous) = (header, previous)
    if try isCut(value.count, fields: fields.encoded.count) { header.flags.insert(.chunked) }
    let draft = Draft(value, for: key, at: entryKey, header, fields.0, encoded: fields.encoded)
    if budget.mayEvict(namespace.rules) {
      // A record of the write buffer needs no further room, because the buffer takes only records that keep the limits.
      let hasRoom = if case .committed = change { true } else { false }
      previous = try admit(draft, replacing: previous, in: namespace, hasRoom: hasRoom)
    }
    try replace(previous, with: draft, as: change)
    return draft.header
  }

  private mutating func isCut(_ count: Int, fields: Int) throws(LarderError) -> Bool {
    if let least = engine.chunksAbove, count > least { return true }
    return try needsChunks(value: count, recordCount: EntryHeader.largestSize + fields + count)
  }

  /// The entry that a write replaces; nil if there is none. A damaged record is counted as damaged and then overwritten. If
  /// another entry with a long key has the same stored form, that other entry is removed first.
  mutating func clearPlace(
    at entryKey: [UInt8], for key: Span<UInt8>
  ) throws(LarderError) -> StoredEntry? {
    switch try contents(of: entryKey) {
    case .empty: return nil
    case .damaged:
      try recordDamage(entryKey)
      return nil
    case .entry(let previous) where previous.has(key): return previous
    case .entry(let other):
      try remove(other, reason: .replaced)
      return nil
    }
  }
}

/// The attributes of a value that is about to be stored. Attributes that were nil have the values of the rules.
struct PutTerms {
  let attributes: EntryAttributes
  let owners: [StoredOwner]
  let lifetime: Lifetime

  var idle: IdleInterval? { attributes.idle.flatMap { IdleInterval($0) } ?? lifetime.idle }

  func header(
    _ key: Span<UInt8>, version: UInt64, replacing previous: EntryHeader?,
    in namespace: KnownNamespace, at now: Timestamp
  ) -> EntryHeader {
    let isPinned = attributes.isPinned ?? previous?.flags.contains(.pinned) ?? false
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
      sequence: isPinned ? 0 : namespace.queuePosition(of: previous, version: version),
      version: version)
    header.deadline = header.indexedDeadline(replacing: previous)
    return header
  }
}
