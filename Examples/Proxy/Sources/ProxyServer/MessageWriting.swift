import HTTPTypes
import LarderHTTP

extension HTTPFields {
  /// Appends the lines of a head, in their order, and the empty line that ends the head.
  fileprivate func encode(into bytes: inout [UInt8]) {
    for field in self {
      bytes.append(contentsOf: field.name.rawName.utf8)
      bytes.append(0x3A)
      bytes.append(0x20)
      bytes.append(contentsOf: field.valueBytes)
      bytes.append(0x0D)
      bytes.append(0x0A)
    }
    bytes.append(0x0D)
    bytes.append(0x0A)
  }
}

extension HTTPResponse {
  var encodedHead: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1024)
    bytes.append(contentsOf: "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8)
    headerFields.encode(into: &bytes)
    return bytes
  }
}

extension HTTPRequest {
  var encodedHead: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1024)
    bytes.append(contentsOf: "\(method.rawValue) \(path ?? "/") HTTP/1.1\r\n".utf8)
    headerFields.encode(into: &bytes)
    return bytes
  }
}

extension [UInt8] {
  /// The bytes as a chunk (RFC 9112, 7.1). Do not call it without bytes: an empty chunk ends a body.
  var asChunk: [UInt8] { Array((String(count, radix: 16) + "\r\n").utf8) + self + [0x0D, 0x0A] }

  static var lastChunk: [UInt8] { Array("0\r\n\r\n".utf8) }
}
