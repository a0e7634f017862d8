import HTTPTypes

/// Recognizes plain requests: a GET in HTTP/1.1 with a target in origin form, one `Host` and no body. No field decides about an
/// answer from the store or about the end of the connection.
///
/// This type is stricter than ``MessageParser``, which reads all other requests.
struct PlainRequests: Sendable {
  private static let longest = 8_192
  private static let mostFields = 100
  private static let start = Array("GET /".utf8)
  private static let version = Array(" HTTP/1.1\r\n".utf8)
  private static let host = Array("host".utf8)
  private static let connection = Array("connection".utf8)
  private static let keepAlive = Array("keep-alive".utf8)

  /// The names of the fields that decide about an answer, in lower case.
  private let decisive: [[UInt8]]
  /// For each name in ``decisive``, a bit for its length and its first letter, so that most fields need no comparison.
  private let filter: UInt64

  /// - Parameter fields: the fields that decide about an answer from the store.
  init(besides fields: Set<HTTPField.Name>) {
    decisive =
      (fields.map(\.canonicalName) + ["content-length", "transfer-encoding", "expect"]).map {
        Array($0.utf8)
      }
    filter = (decisive + [Self.host, Self.connection]).reduce(0) {
      $0 | Self.bit(length: $1.count, first: $1[0])
    }
  }

  private static func bit(length: Int, first: UInt8) -> UInt64 {
    1 << UInt64(truncatingIfNeeded: (length &* 7 &+ Int(first | 0x20)) & 63)
  }

  /// The place of the target in `bytes`; nil if the bytes are not exactly one plain request.
  func target(of bytes: Span<UInt8>) -> Range<Int>? {
    guard bytes.count <= Self.longest, bytes.has(Self.start, at: 0) else { return nil }
    var at = Self.start.count
    while at < bytes.count, Self.isTarget(bytes[at]) { at += 1 }
    let target = Self.start.count - 1..<at
    guard bytes.has(Self.version, at: at) else { return nil }
    at += Self.version.count
    var (hosts, fields) = (0, 0)
    while at + 1 < bytes.count {
      if bytes[at] == 0x0D {
        return bytes[at + 1] == 0x0A && at + 2 == bytes.count && hosts == 1 ? target : nil
      }
      fields += 1
      guard fields <= Self.mostFields, let colon = Self.colon(in: bytes, from: at),
        let end = Self.endOfValue(in: bytes, from: colon + 1)
      else { return nil }
      if filter & Self.bit(length: colon - at, first: bytes[at]) != 0 {
        let (name, value) = (at..<colon, colon + 1..<end)
        if bytes.isName(Self.host, in: name) {
          hosts += 1
          guard Self.isHost(bytes, value) else { return nil }
        } else if bytes.isName(Self.connection, in: name) {
          guard bytes.isName(Self.keepAlive, in: bytes.trimmed(value)) else { return nil }
        } else {
          for name in decisive where bytes.isName(name, in: at..<colon) { return nil }
        }
      }
      at = end + 2
    }
    return nil
  }

  /// The end of a field's name; nil if there is no name.
  private static func colon(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var at = start
    while at < bytes.count, isToken(bytes[at]) { at += 1 }
    return at < bytes.count && at > start && bytes[at] == 0x3A ? at : nil
  }

  /// The end of a value before CR and LF; nil if it has other characters than visible ASCII, spaces and tabs.
  private static func endOfValue(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var at = start
    while at < bytes.count, (0x20..<0x7F).contains(bytes[at]) || bytes[at] == 0x09 { at += 1 }
    return at + 1 < bytes.count && bytes[at] == 0x0D && bytes[at + 1] == 0x0A ? at : nil
  }

  /// Whether a byte may be in the target of a plain request: such a target is a key without a change.
  private static func isTarget(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x2D...0x3B, 0x41...0x5A, 0x21, 0x24...0x2C, 0x3D, 0x3F, 0x40, 0x5F, 0x7E:
      true
    default: false
    }
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x2D, 0x41...0x5A, 0x30...0x39, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2E,
      0x5E...0x60, 0x7C, 0x7E:
      true
    default: false
    }
  }

  private static func isHost(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    for index in bytes.trimmed(range) {
      switch bytes[index] {
      case 0x61...0x7A, 0x2D, 0x2E, 0x30...0x3A, 0x41...0x5B, 0x5D: continue
      default: return false
      }
    }
    return true
  }
}

extension Span<UInt8> {
  fileprivate func has(_ expected: [UInt8], at start: Int) -> Bool {
    guard start + expected.count <= count else { return false }
    for index in expected.indices where self[start + index] != expected[index] { return false }
    return true
  }

  /// Whether the bytes in `range` are `name`, without regard to case.
  fileprivate func isName(_ name: [UInt8], in range: Range<Int>) -> Bool {
    guard range.count == name.count else { return false }
    for index in name.indices where self[range.lowerBound + index] | 0x20 != name[index] | 0x20 {
      return false
    }
    return true
  }

  fileprivate func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
    while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }
}
