import LarderSystem

/// The transforms that changed the bytes of an entry, in their order. Each step has the number of the transform (1 byte), the
/// size of the bytes before the transform (4 bytes), the length of its parameters (1 byte), and the parameters.
struct TransformSteps: Equatable {
  struct Step: Equatable {
    var id: TransformID
    var size: Int
    var parameters: [UInt8]
  }

  static let most = 8

  var all: [Step] = []

  init() {}

  init?(_ bytes: Span<UInt8>) {
    var offset = 0
    while offset < bytes.count {
      guard all.count < Self.most, bytes.count - offset >= 6 else { return nil }
      let (size, count) = (Int(bytes.halfWord(at: offset + 1)), Int(bytes[offset + 5]))
      let start = offset + 6
      guard size <= Rules.largestPossibleValue + (1 << 20), count <= bytes.count - start else {
        return nil
      }
      all.append(
        Step(
          id: TransformID(rawValue: bytes[offset]), size: size,
          parameters: bytes.extracting(start..<start + count).copied))
      offset = start + count
    }
    if all.isEmpty { return nil }
  }

  /// The stored form of the first `count` steps; nil means all steps.
  func encoded(_ count: Int? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    for step in all.prefix(count ?? all.count) {
      bytes.append(step.id.rawValue)
      bytes.append(littleEndian: UInt32(step.size))
      bytes.append(UInt8(step.parameters.count))
      bytes += step.parameters
    }
    return bytes
  }
}

extension EntryFields {
  /// The transforms of the value; nil if no transform changed the value, or the field is damaged.
  var transforms: TransformSteps? { self[.transforms].flatMap { TransformSteps($0.span) } }

  var metadataFields: EntryFields {
    get {
      var fields = EntryFields()
      for kind in Self.metadataKinds { fields[kind] = self[kind] }
      return fields
    }
    set {
      for kind in Self.metadataKinds where self[kind] != newValue[kind] {
        self[kind] = newValue[kind]
      }
    }
  }

  private static let metadataKinds: [Kind] = [.entityTag, .lastModified, .metadata]
}

extension EntryHeader {
  /// Whether transforms changed the value. If so, the field of transforms is the first field, or follows the whole key.
  static func isTransformed(_ fields: Span<UInt8>) -> Bool {
    var reader = FieldReader(fields)
    var kind = reader.next()?.kind
    if kind == EntryFields.Kind.key.rawValue { kind = reader.next()?.kind }
    return kind == EntryFields.Kind.transforms.rawValue
  }
}
