import Larder
import LarderSystem

/// The form in which the tier stores a value, with its lifetimes, tags and codec. The checksum covers these data, and also
/// the application, the namespace and the key.
///
/// Numbers are big-endian: layout (1 byte), flags (1), codec (1), 0 (1), soft lifetime and stale window in milliseconds (8
/// each), length of a long key (4) and the key, number of tags (2), each with its length (2), length of the value (4) and
/// the value, checksum (8). Every later layout ends with this checksum, which finds a damaged layout byte.
///
/// Layout 2 has the entity tag and the Last-Modified field after the tags, each as its length plus 1 (4) and its bytes, or 0 if
/// absent. Layout 2 may state that the key has no value. Other frames have layout 1, which older versions read.
struct Frame: Equatable, Sendable {
  /// The longest lifetime in the tier.
  static let longest = Duration.days(30)
  static let newestLayout: UInt8 = 2
  static let mostTags = 1000

  static func checkCount(of tags: [String]) throws(LarderError) {
    guard tags.count > mostTags else { return }
    throw LarderError(
      .invalidArgument, "a shared value cannot have \(tags.count) tags",
      hint: "use at most \(mostTags)")
  }

  private static let tooLarge: UInt8 = 1
  private static let absent: UInt8 = 2

  enum Parsed: Equatable {
    case frame(Frame)
    case damaged
    case newer
  }

  var codec: CodecID
  /// How long the value is fresh; zero to ``longest``.
  var soft: Duration
  /// How long after its fresh lifetime the value may be served stale; zero to ``longest``.
  var stale: Duration
  var tags: [String]
  var validators: Validators
  /// The value; nil if the key has no value, or if the value is too large for the tier, so that each machine loads it.
  var value: [UInt8]?
  /// Whether the origin has no value for the key.
  var isAbsent: Bool

  /// - Parameter soft: nil for a value that is always fresh.
  init(
    codec: CodecID, soft: Duration?, stale: Duration, tags: [String],
    validators: Validators = Validators(), value: [UInt8]?, isAbsent: Bool = false
  ) {
    self.codec = codec
    self.soft = min(max(soft ?? Self.longest, .zero), Self.longest)
    self.stale = min(max(stale, .zero), Self.longest)
    self.tags = tags
    self.validators = validators
    self.value = value
    self.isAbsent = isAbsent
  }

  /// The time after which the tier forgets the value.
  var hard: Duration { min(max(soft + stale, .milliseconds(1)), Self.longest) }

  func encoded(for key: SharedKey, of application: String) -> [UInt8] {
    let layout: UInt8 = isAbsent || validators != Validators() ? 2 : 1
    let flags = isAbsent ? Self.absent : value == nil ? Self.tooLarge : 0
    var bytes: [UInt8] = [layout, flags, codec.rawValue, 0]
    bytes.append(bigEndian: soft.frameMilliseconds)
    bytes.append(bigEndian: stale.frameMilliseconds)
    let long = TierNames.isLong(key.bytes) ? key.bytes : []
    bytes.append(bigEndian: UInt32(truncatingIfNeeded: long.count))
    bytes += long
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: tags.count))
    for tag in tags {
      bytes.append(bigEndian: UInt16(truncatingIfNeeded: tag.utf8.count))
      bytes += tag.utf8
    }
    if layout == 2 {
      for field in [validators.entityTag, validators.lastModified] {
        bytes.append(bigEndian: field.map { UInt32(truncatingIfNeeded: $0.count + 1) } ?? 0)
        bytes += field ?? []
      }
    }
    bytes.append(bigEndian: UInt32(truncatingIfNeeded: value?.count ?? 0))
    bytes += value ?? []
    bytes.append(bigEndian: Self.checksum(of: bytes, for: key, application))
    return bytes
  }

  static func parse(_ bytes: [UInt8], for key: SharedKey, of application: String) -> Parsed {
    guard let first = bytes.first, bytes.count > 8,
      checksum(of: Array(bytes.dropLast(8)), for: key, application)
        == UInt64(bigEndianBytes: bytes.suffix(8))
    else { return .damaged }
    // This version cannot read a value in a later layout, and must not overwrite the value, because newer machines can read it.
    if first > newestLayout { return .newer }
    var reader = ByteReader(bytes[...])
    guard first > 0, let head = reader.bytes(4), head.last == 0,
      case let flags = head[head.startIndex + 1],
      flags == 0 || flags == tooLarge || flags == absent && first > 1,
      let soft = reader.duration(), let stale = reader.duration(),
      let keyCount = reader.number(4), let long = reader.bytes(keyCount),
      long.elementsEqual(TierNames.isLong(key.bytes) ? key.bytes : []),
      let tagCount = reader.number(2), tagCount <= mostTags
    else { return .damaged }
    var tags: [String] = []
    for _ in 0..<tagCount {
      guard let count = reader.number(2), let tag = reader.bytes(count),
        let text = String(validating: tag, as: UTF8.self)
      else { return .damaged }
      tags.append(text)
    }
    var fields: [[UInt8]?] = [nil, nil]
    if first > 1 {
      for index in fields.indices {
        guard let count = reader.number(4) else { return .damaged }
        if count == 0 { continue }
        guard let field = reader.bytes(count - 1) else { return .damaged }
        fields[index] = Array(field)
      }
    }
    guard let count = reader.number(4), let value = reader.bytes(count), reader.rest.count == 8,
      flags == 0 || value.isEmpty
    else { return .damaged }
    return .frame(
      Frame(
        codec: CodecID(rawValue: head[head.startIndex + 2]), soft: soft, stale: stale, tags: tags,
        validators: Validators(entityTag: fields[0], lastModified: fields[1]),
        value: flags == 0 ? Array(value) : nil, isAbsent: flags == absent))
  }

  static func checksum(of bytes: [UInt8], for key: SharedKey, _ application: String) -> UInt64 {
    var context: [UInt8] = []
    for part in [Array(application.utf8), Array(key.namespace.utf8), key.bytes] {
      context.append(bigEndian: UInt64(part.count))
      context += part
    }
    return Checksum.of(bytes, seed: Checksum.of(context, seed: 0))
  }
}

extension Duration {
  /// Whole milliseconds for a field of a frame or an argument of a command, rounded up; zero for a negative duration.
  var frameMilliseconds: UInt64 { UInt64(max(roundedUpMilliseconds, 0)) }
}

/// Reads numbers and bytes from the front of a slice, and nothing beyond its end.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// A number of `width` bytes, at most 4; nil if fewer bytes are left.
  mutating func number(_ width: Int) -> Int? { bytes(width)?.reduce(0) { $0 << 8 | Int($1) } }

  /// A duration of at most ``Frame/longest``; nil for a longer duration, or if fewer bytes are left.
  mutating func duration() -> Duration? {
    guard let number = bytes(8).map({ UInt64(bigEndianBytes: $0) }),
      number <= Frame.longest.frameMilliseconds
    else { return nil }
    return .milliseconds(Int64(number))
  }
}
