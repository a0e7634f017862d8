import HTTPTypes

/// An entity tag, as it came: opaque, and kept even where it is malformed (RFC 9110, 8.8.3).
struct EntityTag: Equatable {
  let text: String

  init(_ text: some StringProtocol) { self.text = String(text) }

  init?(_ fields: HTTPFields) {
    guard let line = fields[values: .eTag].first, !line.isEmpty else { return nil }
    self.init(line)
  }

  var isWeak: Bool { text.hasPrefix("W/") }

  private var opaque: Substring { isWeak ? text.dropFirst(2) : text[...] }

  /// RFC 9110, 8.8.3.2: the same, be one of them weak.
  func matchesWeakly(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }

  func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && text.utf8.elementsEqual(other.text.utf8)
  }

  /// Whether parts of it can be put together: quoted, and strong.
  var isStrong: Bool { !isWeak && text[...].unquotedTag }
}

extension Substring {
  fileprivate var unquotedTag: Bool {
    utf8.count >= 2 && utf8.first == UInt8(ascii: "\"") && utf8.last == UInt8(ascii: "\"")
  }
}
