/// Each function returns a write of one entry, which can share a commit with other writes. The public methods run the write.
extension Store.Namespace {
  /// The write returns whether `condition` was true; false means that the write stored nothing.
  func putting(
    _ value: [UInt8], for key: some StoreKey, _ attributes: EntryAttributes,
    if condition: WriteCondition = .always
  ) throws -> SharedWrite<Bool> {
    let (name, key, handle) = (try writableName, key.copied, handle)
    return SharedWrite(size: value.count) { batch in
      switch condition {
      case .always: break
      case .unlessFresh: if try batch.value(for: key.span, in: name) != nil { return false }
      case .over(let version):
        if try batch.session.living(key.span, in: name)?.header.version != version { return false }
      }
      try batch.put(value.span, for: key.span, in: name, attributes: attributes)
      return true
    } append: { engine throws(LarderError) in
      try engine.append(value.span, for: key.span, in: handle, attributes, if: condition).map {
        $0 != nil
      }
    }
  }

  func updating(
    _ key: some StoreKey, _ attributes: EntryAttributes,
    _ change: @escaping @Sendable ([UInt8]?) throws -> [UInt8]?
  ) throws -> SharedWrite<[UInt8]?> {
    let (name, key) = (try writableName, key.copied)
    // `change` may read many keys, so the write buffer must be committed first.
    return SharedWrite(mode: .readingMany) { batch in
      let new = try change(try batch.value(for: key.span, in: name))
      if let new {
        try batch.put(new.span, for: key.span, in: name, attributes: attributes)
      } else {
        _ = try batch.remove(key.span, in: name)
      }
      return new
    }
  }

  func removing(_ key: some StoreKey) throws -> SharedWrite<Bool> {
    let (name, key, handle) = (try writableName, key.copied, handle)
    return SharedWrite { batch in
      try batch.remove(key.span, in: name)
    } append: { engine throws(LarderError) in
      try engine.appendRemoval(of: key.span, in: handle)
    }
  }

  func popping<Value: Sendable>(
    _ key: some StoreKey, _ decode: @escaping @Sendable ([UInt8]) -> Value?
  ) throws -> SharedWrite<Value?> {
    let (name, key) = (try writableName, key.copied)
    return SharedWrite { batch in
      let bytes = try batch.value(for: key.span, in: name)
      let value = bytes.flatMap(decode)
      // A value that cannot be decoded stays, because a newer program may decode the value.
      if bytes == nil || value != nil { _ = try batch.remove(key.span, in: name) }
      return value
    }
  }

  func incrementing(
    _ key: some StoreKey, by amount: Int, _ expires: Expiration?
  ) throws -> SharedWrite<Int> {
    let (name, key, handle) = (try writableName, key.copied, handle)
    return SharedWrite { batch in
      let present = try batch.value(for: key.span, in: name)
      let sum = try Self.sum(of: present, amount, key, in: name)
      let entry = present == nil ? nil : try batch.entry(for: key, in: self)
      var attributes = EntryAttributes(keeping: entry, expires: expires)
      if entry == nil { attributes.codec = .text }
      try batch.put(Array(String(sum).utf8).span, for: key.span, in: name, attributes: attributes)
      return sum
    } append: { engine throws(LarderError) in
      try engine.appendReplacement(for: key.span, in: handle) {
        present, header throws(LarderError) in
        let sum = try Self.sum(of: present, amount, key, in: name)
        var attributes = EntryAttributes(keeping: header, expires: expires)
        if header == nil { attributes.codec = .text }
        return (Array(String(sum).utf8), attributes, sum)
      }
    }
  }

  private static func sum(
    of present: [UInt8]?, _ amount: Int, _ key: [UInt8], in name: String
  ) throws(LarderError) -> Int {
    guard let number = present.map({ Int(String(decoding: $0, as: UTF8.self)) }) ?? 0 else {
      throw LarderError(
        .undecodable, "the value under \(Key(key)) in namespace \(name) is not a whole number",
        hint: "set a number there first, or use another key")
    }
    let (sum, overflow) = number.addingReportingOverflow(amount)
    guard !overflow else {
      throw LarderError(
        .invalidArgument,
        "adding \(amount) to the \(number) under \(Key(key)) in namespace \(name) exceeds 64 bits",
        hint: "set the number again")
    }
    return sum
  }

  func rescheduling(_ key: some StoreKey, _ expires: Expiration?) throws -> SharedWrite<Bool> {
    let (name, key) = (try writableName, key.copied)
    return SharedWrite { batch in try batch.reschedule(key.span, in: name, expires: expires) }
  }

  func pinning(_ key: some StoreKey, _ isPinned: Bool) throws -> SharedWrite<Bool> {
    let (name, key) = (try writableName, key.copied)
    return SharedWrite { batch in try batch.pin(key.span, in: name, isPinned: isPinned) }
  }

  private var writableName: String {
    get throws(LarderError) {
      try store.checkWritable()
      return name
    }
  }
}
