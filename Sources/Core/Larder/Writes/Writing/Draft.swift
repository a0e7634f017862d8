import LarderSystem

struct Draft: ~Escapable {
  let entryKey: [UInt8]
  let key: Span<UInt8>
  let keyHash: UInt64
  /// The header in its stored form, without the checksum.
  let header: EntryHeader
  let form: EntryHeader.Form
  let fields: EntryFields
  let encodedFields: [UInt8]
  /// The value, or the payload of the former record in a draft that keeps the former value.
  let payload: Span<UInt8>
  let valueCount: Int
  private let keepsValue: Bool

  @_lifetime(copy key, copy value)
  init(
    _ value: Span<UInt8>, for key: Span<UInt8>, at entryKey: [UInt8], _ header: EntryHeader,
    _ fields: EntryFields, encoded encodedFields: [UInt8]
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
    valueCount = value.count
    keepsValue = false
  }

  /// A draft of an entry whose value stays.
  @_lifetime(copy key, copy payload)
  init(
    keepingValueOf former: StoredEntry, _ payload: Span<UInt8>, for key: Span<UInt8>,
    _ header: EntryHeader, _ fields: EntryFields
  ) {
    entryKey = former.entryKey
    self.key = key
    keyHash = Checksum.keyHash(of: key, in: former.id)
    encodedFields = fields.encoded()
    var header = header
    header.fieldsCount = UInt32(encodedFields.count)
    self.header = header
    form = header.form
    self.fields = fields
    self.payload = payload
    valueCount = former.valueCount
    keepsValue = true
  }

  var id: NamespaceID { entryKey.span.namespaceID }

  /// Whether the value must be cut into chunks.
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

  var trace: EntryTrace { EntryTrace(weight: weight, deadline: header.indexed) }

  /// Whether `entry` already has the content of the draft. A version has only one value ever.
  func isContent(of entry: StoredEntry) -> Bool {
    header.version == entry.header.version && header.isContent(of: entry.header)
      && fields == entry.fields
  }
}
