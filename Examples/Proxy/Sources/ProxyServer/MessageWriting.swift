import HTTPTypes
import LarderHTTP

extension HTTPFields {
  /// As lines of a head, in their order.
  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for field in self {
      bytes += Array(field.name.rawName.utf8) + [0x3A, 0x20] + field.valueBytes + [0x0D, 0x0A]
    }
    return bytes
  }
}

extension HTTPResponse {
  var encodedHead: [UInt8] {
    Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8) + headerFields.encoded
      + [0x0D, 0x0A]
  }
}

extension HTTPRequest {
  var encodedHead: [UInt8] {
    Array("\(method.rawValue) \(path ?? "/") HTTP/1.1\r\n".utf8) + headerFields.encoded
      + [0x0D, 0x0A]
  }
}

extension [UInt8] {
  /// As a chunk (RFC 9112, 7.1); never that of no bytes, which ends a body.
  var asChunk: [UInt8] { Array((String(count, radix: 16) + "\r\n").utf8) + self + [0x0D, 0x0A] }

  static var lastChunk: [UInt8] { Array("0\r\n\r\n".utf8) }
}
