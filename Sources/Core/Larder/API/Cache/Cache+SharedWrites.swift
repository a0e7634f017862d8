/// The facts of an entry that the memory tier needs to keep the value of the entry.
struct Stored: Sendable {
  var id: NamespaceID
  var header: EntryHeader
  /// The state of the store at the lookup, or before the write: after the commit, the store may contain a newer value.
  var moment: UInt64
}

extension Cache {
  func setting(
    _ bytes: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes
  ) -> SharedWrite<Stored> {
    let key = key.copied
    return SharedWrite(size: bytes.count, isTried: true) { batch in
      try batch.set(encoded: bytes, for: key, in: self, attributes)
    } append: { _ throws(LarderError) in
      try append(bytes, for: key, attributes)
    }
  }

  func settingIfAbsent(
    _ value: Value, for key: some StoreKey, _ expires: Expiration?
  ) throws(LarderError) -> SharedWrite<Bool> {
    let (bytes, key) = (try encode(value), key.copied)
    try namespace.store.checkWritable()
    return SharedWrite(size: bytes.count) { batch in
      if try batch.value(for: key, in: self) != nil { return false }
      try batch.set(encoded: bytes, for: key, in: self, EntryAttributes(expires: expires))
      return true
    }
  }

  func updating(
    _ key: some StoreKey, _ expires: Expiration?,
    _ change: @escaping @Sendable (Value?) throws -> Value?
  ) throws(LarderError) -> SharedWrite<Value?> {
    try namespace.store.checkWritable()
    let key = key.copied
    // `change` may read many keys, so the write buffer must be committed first.
    return SharedWrite(mode: .readingMany) { batch in
      let new = try change(try batch.value(for: key, in: self))
      if let new {
        try batch.set(new, for: key, in: self, expires: expires)
      } else {
        try batch.remove(key, from: self)
      }
      return new
    }
  }

  func forget<Result>(_ key: some StoreKey, after result: Result) -> Result {
    key.withKeyBytes { forget($0) }
    return result
  }

  func forget(_ key: Span<UInt8>) {
    if let memory, let item = memory.item(key) { memory.remove(item) }
  }
}

extension Cache where Value: FixedWidthInteger {
  func incrementing(
    _ key: some StoreKey, by amount: Value, _ expires: Expiration?
  ) throws(LarderError) -> SharedWrite<Value> {
    try namespace.store.checkWritable()
    let key = Key(key)
    return SharedWrite { batch in
      let present = try batch.value(for: key, in: namespace)
      let sum = try sum(of: present, amount, key)
      let entry = present == nil ? nil : try batch.entry(for: key, in: namespace)
      try batch.set(sum, for: key, in: self, EntryAttributes(keeping: entry, expires: expires))
      return sum
    } append: { engine throws(LarderError) in
      guard hasDeclaredRules else { return nil }
      return try engine.appendReplacement(for: key.bytes.span, in: namespace.handle) {
        present, header throws(LarderError) in
        let sum = try sum(of: present, amount, key)
        var attributes = EntryAttributes(keeping: header, expires: expires)
        attributes.codec = codecID
        return (try encode(sum), attributes, sum)
      }
    }
  }

  private func sum(of bytes: [UInt8]?, _ amount: Value, _ key: Key) throws(LarderError) -> Value {
    let present = if let bytes { try decodeStrictly(bytes.span, isHit: false) } else { 0 as Value }
    let (sum, overflow) = present.addingReportingOverflow(amount)
    guard !overflow else {
      throw LarderError(
        .invalidArgument,
        "adding \(amount) to the \(present) under \(key) in namespace \(name) exceeds \(Value.self)",
        hint: "use a wider integer, or set the number again")
    }
    return sum
  }
}

extension EntryAttributes {
  /// The attributes for a new value of an entry that has only a codec and times, such as an entry of the write buffer.
  init(keeping header: EntryHeader?, expires: Expiration?) {
    self.init(expires: expires)
    guard let header else { return }
    codec = CodecID(rawValue: header.codec)
    stale = header.stale ?? .zero
    self.expires = header.stale == nil ? .never : .at(Timestamp(milliseconds: header.expires))
  }

  /// The attributes for a new value of `entry`. If `entry` is nil, the attributes of a new entry with the lifetime `expires`.
  package init(keeping entry: Store.Entry?, expires: Expiration?) {
    self.init(expires: expires)
    guard let entry else { return }
    codec = entry.codec
    self.expires = entry.expires.map { .at($0) } ?? .never
    stale =
      entry.staleUntil.flatMap { until in entry.expires.map { $0.duration(to: until) } } ?? .zero
    tags = entry.tags
    // The entry keeps its link to an owner that has expired or is not imported yet.
    (owners, awaitsOwners) = (entry.owners, true)
    idle = entry.timeToIdle
    entityTag = entry.entityTag
    lastModified = entry.lastModified
    metadata = entry.metadata
  }
}
