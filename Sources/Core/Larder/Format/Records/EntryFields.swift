import LarderSystem

/// The fields of an entry, between header and payload. A field has a kind, a length and bytes. Unknown fields are preserved.
struct EntryFields: Equatable, Sendable {
  /// The kinds of fields. The raw value is the byte in the record.
  enum Kind: UInt8 {
    /// The whole key of an entry with a long key; always the first field.
    case key = 1
    /// An owner: its namespace id and its key. Each owner has a field of its own.
    case owner = 2
    /// A tag. Each tag has a field of its own.
    case tag = 3
    case entityTag = 4
    case lastModified = 5
    case metadata = 6
    /// The time to idle in milliseconds, 8 bytes.
    case idleInterval = 7
    /// The transforms that changed the value; see ``TransformSteps``. This field is the first field, or follows the field `key`.
    case transforms = 8
    /// Transformed metadata, entity tag and modification time: the length of the steps (4 bytes), the steps, and the bytes.
    case transformedMetadata = 9
  }

  private(set) var all: [(kind: UInt8, bytes: [UInt8])] = []

  init() {}

  static func == (left: Self, right: Self) -> Bool {
    left.all.elementsEqual(right.all) { $0.kind == $1.kind && $0.bytes == $1.bytes }
  }

  var isEmpty: Bool { all.isEmpty }

  /// Reads the fields of a record. Nil if the fields do not end exactly at the end of `bytes`.
  init?(_ bytes: Span<UInt8>) {
    var reader = FieldReader(bytes)
    while let field = reader.next() {
      all.append((field.kind, bytes.extracting(field.range).copied))
    }
    guard reader.isAtEnd else { return nil }
  }

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    for field in all {
      bytes.append(field.kind)
      if field.bytes.count < Int(FieldReader.longMark) {
        bytes.append(UInt8(field.bytes.count))
      } else {
        bytes.append(FieldReader.longMark)
        bytes.append(littleEndian: UInt32(field.bytes.count))
      }
      bytes.append(contentsOf: field.bytes)
    }
    return bytes
  }

  /// The bytes of the first field of a kind. Setting bytes replaces all fields of the kind. Setting nil removes these fields.
  subscript(kind: Kind) -> [UInt8]? {
    get { all.first { $0.kind == kind.rawValue }?.bytes }
    set { replaceAll(kind, with: newValue.map { [$0] } ?? []) }
  }

  func all(_ kind: Kind) -> [[UInt8]] { all.filter { $0.kind == kind.rawValue }.map(\.bytes) }

  mutating func replaceAll(_ kind: Kind, with fields: [[UInt8]]) {
    if !all.isEmpty { all.removeAll { $0.kind == kind.rawValue } }
    if !fields.isEmpty { all += fields.map { (kind.rawValue, $0) } }
  }

  var tags: [[UInt8]] {
    get { all(.tag) }
    set { replaceAll(.tag, with: newValue) }
  }
}

/// Reads the fields of a record without copying them. Stops at the first field that is longer than the rest of the bytes.
struct FieldReader: ~Escapable {
  /// If the length byte of a field has this value, the length follows in 4 bytes.
  static let longMark: UInt8 = 255

  private let bytes: Span<UInt8>
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  /// The next field, and the range of its bytes. Nil at the end, or if the bytes are not a field.
  mutating func next() -> (kind: UInt8, range: Range<Int>)? {
    guard bytes.count - offset >= 2 else { return nil }
    var start = offset + 2
    var count = Int(bytes[offset + 1])
    if count == Int(Self.longMark) {
      guard bytes.count - start >= 4 else { return nil }
      count = Int(bytes.halfWord(at: start))
      start += 4
    }
    guard count <= bytes.count - start else { return nil }
    let kind = bytes[offset]
    offset = start + count
    return (kind, start..<offset)
  }
}

extension EntryHeader {
  /// The range in the record of the first field of a kind; nil if no such field exists. Copies no field.
  func field(_ kind: EntryFields.Kind, in record: Span<UInt8>) -> Range<Int>? {
    guard fieldsRange.upperBound <= record.count else { return nil }
    var reader = FieldReader(record.extracting(fieldsRange))
    while let field = reader.next() {
      if field.kind == kind.rawValue {
        return field.range.lowerBound + size..<field.range.upperBound + size
      }
    }
    return nil
  }

  /// Whether the record belongs to `key`. If not, the record belongs to another long key with the same stored form.
  @inline(__always)
  func belongs(to key: Span<UInt8>, in record: Span<UInt8>) -> Bool {
    !flags.contains(.longKey)
      || field(.key, in: record).map { record.extracting($0).elementsEqual(key) } ?? false
  }
}
