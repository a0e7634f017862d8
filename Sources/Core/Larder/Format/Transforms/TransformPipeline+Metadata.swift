import LarderSystem

// Metadata, entity tag and modification time form one record, which transforms change separately from the value.
extension TransformPipeline {
  /// The transformed record of the three fields; nil if the entry has none of the fields, or no transform changes the record.
  func metadata(_ fields: EntryFields, of entry: TransformContext) throws(LarderError) -> [UInt8]? {
    let covering = transforms.filter(\.coversMetadata)
    if covering.isEmpty || fields.isEmpty { return nil }
    guard let (bytes, steps) = try apply(covering, to: fields.encoded().span, entry.of(.metadata))
    else { return nil }
    let head = steps.encoded()
    return [UInt8](littleEndian: UInt32(head.count)) + head + bytes
  }

  /// The fields, with metadata, entity tag and modification time as they were written. These three fields are absent if they
  /// are damaged, cannot be read by this process, or lack a required transform.
  func readable(_ fields: EntryFields, of entry: TransformContext) -> EntryFields {
    // Ignores an error, so that an inspection of the entry gets the other fields. Only a read of the value throws an error.
    if let plain = try? plain(fields, of: entry) { return plain }
    var rest = fields
    rest[.transformedMetadata] = nil
    rest.metadataFields = EntryFields()
    return rest
  }

  /// Like `readable`, for a write that replaces some of the three fields. Throws ``LarderError/Code/unreadable`` if the stored
  /// fields cannot be read, because the write would lose the other fields. Also throws if this process lacks a transform of the
  /// value (except zstd), because that transform may have to change the new fields, too.
  func changeable(
    _ fields: EntryFields, of entry: TransformContext
  ) throws(LarderError) -> EntryFields {
    let missing = fields.transforms?.all.lazy.map(\.id).first { id in
      id != .zstd && !transforms.contains { $0.id == id }
    }
    if missing == nil, let plain = try plain(fields, of: entry) { return plain }
    let reason = missing.map { "the entry is \($0.name)" } ?? "what is there cannot be read"
    throw LarderError(
      .unreadable, "the metadata of \(Key(entry.key)) cannot be changed: \(reason)",
      hint: missing?.remedy
        ?? "check the transforms of the store and their keys, or write the entry anew")
  }

  /// The fields before the transforms. Nil if the three fields are damaged, or lack a required transform.
  private func plain(
    _ fields: EntryFields, of entry: TransformContext
  ) throws(LarderError) -> EntryFields? {
    guard let record = fields[.transformedMetadata] else {
      return requiresMetadata && !fields.metadataFields.isEmpty ? nil : fields
    }
    guard record.count > 4, case let count = Int(record.span.halfWord(at: 0)),
      count <= record.count - 4, let steps = TransformSteps(record.span.extracting(4..<4 + count)),
      let bytes = try revert(steps, Array(record[(4 + count)...]), entry.of(.metadata)),
      let found = EntryFields(bytes.span), isComplete(steps, where: \.coversMetadata)
    else { return nil }
    var plain = fields
    plain[.transformedMetadata] = nil
    plain.metadataFields = found
    return plain
  }
}

extension EntryAttributes {
  var metadataFields: EntryFields {
    var fields = EntryFields()
    if let entityTag { fields[.entityTag] = entityTag }
    if let lastModified { fields[.lastModified] = lastModified }
    if let metadata { fields[.metadata] = metadata }
    return fields
  }
}
