public import HTTPTypes

extension HTTPRequest {
  /// The request with a target that HTTP/1.1 can carry and a key can hold without ambiguity.
  ///
  /// Bytes that a URI does not allow (spaces, controls, DEL, quotes, bytes beyond ASCII) are percent-encoded, and the
  /// fragment is removed: a client never sends it (RFC 9110, section 4.2.5; RFC 3986, section 2.1).
  public var withEncodedTarget: HTTPRequest {
    guard let path, !RequestTarget.isEncoded(path) else { return self }
    var request = self
    request.path = RequestTarget.encoded(path)
    return request
  }
}

/// The characters of a request target.
enum RequestTarget {
  /// Whether a byte may stand in a path or a query as it is. `%` is allowed: a target arrives encoded.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x24...0x3B, 0x3D, 0x3F...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7C, 0x7E: true
    default: false
    }
  }

  static func isEncoded(_ text: String) -> Bool { text.utf8.allSatisfy(isAllowed) }

  /// - Complexity: O(bytes).
  static func encoded(_ text: String) -> String {
    if isEncoded(text) { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == UInt8(ascii: "#") { break }
      if isAllowed(byte) {
        bytes.append(byte)
      } else {
        let digits = Array("0123456789ABCDEF".utf8)
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
