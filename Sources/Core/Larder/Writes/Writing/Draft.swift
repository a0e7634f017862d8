struct Draft: ~Escapable {
  let entryKey: [UInt8]
  let key: Span<UInt8>
  let keyHash: UInt64
  /// The header in its stored form, but without the checksum.
  let header: EntryHeader
  let form: EntryHeader.Form
  let fields: EntryFields
  let encodedFields: [UInt8]
  /// The value; or, if the draft keeps the value of the former entry, the payload of that entry's record.
  let payload: Span<UInt8>
  let valueCount: Int
  private let keepsValue: Bool

  /// - Parameter former: the entry whose value the draft keeps, or nil. If not nil, `value` is that entry's payload.
  @_lifetime(copy key, copy value)
  init(
    _ value: Span<UInt8>, for key: Span<UInt8>, at entryKey: [UInt8], _ header: EntryHeader,
    _ fields: EntryFields, encoded encodedFields: [UInt8], keepingValueOf former: StoredEntry? = nil
  ) {
    self.entryKey = entryKey
    self.key = key
    keyHash = Checksum.keyHash(of: key, in: entryKey.span.namespaceID)
    var header = header
    header.fieldsCount = UInt32(encodedFields.count)
    self.header = header
    form = header.form
    self.fields = fields
    self.encodedFields = encodedFields
    payload = value
    valueCount = former?.valueCount ?? value.count
    keepsValue = former != nil
  }

  var id: NamespaceID { entryKey.span.namespaceID }

  var isCut: Bool { header.flags.contains(.chunked) && !keepsValue }

  var recordCount: Int {
    form.size + encodedFields.count + (isCut ? ChunkedPayload.size : payload.count)
  }

  var weight: EntryWeight {
    EntryWeight(
      size: valueCount,
      stored: header.flags.contains(.chunked) ? recordCount + valueCount : recordCount,
      queuePosition: header.sequence)
  }

  /// Whether `entry` already has the content of the draft. The value is not compared, because each version has only one value.
  func isContent(of entry: StoredEntry) -> Bool {
    header.version == entry.header.version && header.isContent(of: entry.header)
      && fields == entry.fields
  }
}
