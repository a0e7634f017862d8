import HTTPTypes
import LarderHTTP

/// The first part of an HTTP/1 message, line by line as received (RFC 9112, 2.1).
struct MessageHead: Sendable, Equatable {
  var start: String
  var fields: HTTPFields
  /// The whole head as received; empty for a long head.
  let bytes: [UInt8]

  /// The length, in bytes, up to which a head is kept.
  static let longestKept = 2_048

  /// Reads a head with the empty line at its end; nil if the head has no first line.
  ///
  /// If `isLenient`, a line that continues the previous line is joined to that line, and lines that are no fields are omitted.
  /// Otherwise, both kinds of lines make the result nil (RFC 9112, 5.2).
  ///
  /// - Throws: ``MessageError/tooManyFields`` for more than 1,000 fields.
  init?(_ bytes: [UInt8], isLenient: Bool) throws(MessageError) {
    let lines = bytes.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
      .filter { !$0.isEmpty }
    guard let first = lines.first else { return nil }
    start = String(decoding: isLenient ? first : Self.encoded(first), as: UTF8.self)
    self.bytes = bytes.count <= Self.longestKept ? bytes : []
    fields = HTTPFields()
    var folded: [ArraySlice<UInt8>] = []
    for line in lines.dropFirst() {
      if let byte = line.first, byte == 0x20 || byte == 0x09 {
        // A server refuses a line that continues a field, because another server may read this line as a separate field.
        guard isLenient, !folded.isEmpty else { return nil }
        folded[folded.count - 1] += [0x20] + line.trimmed
      } else {
        folded.append(line)
      }
    }
    guard folded.count <= HTTPCacheError.largestFieldCount else { throw .tooManyFields }
    for line in folded {
      guard let colon = line.firstIndex(of: 0x3A),
        let name = HTTPField.Name(
          String(decoding: isLenient ? line[..<colon].trimmed : line[..<colon], as: UTF8.self))
      else {
        if isLenient { continue }
        return nil
      }
      fields.append(HTTPField(name: name, lenientValue: line[(colon + 1)...].trimmed))
    }
  }

  /// The first line of a request. Bytes of its target beyond ASCII become percent-encoded.
  ///
  /// In text, all bytes that are not UTF-8 become one character, so different targets would become one target.
  private static func encoded(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard line.contains(where: { $0 >= 0x80 }), let start = line.firstIndex(of: 0x20),
      let end = line.lastIndex(of: 0x20)
    else { return line }
    let target = line[start..<end].flatMap { byte in
      byte < 0x80 ? [byte] : Array(("%" + String(byte, radix: 16, uppercase: true)).utf8)
    }
    return line[..<start] + target + line[end...]
  }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection {
  /// The bytes without spaces and tabs at both ends.
  var trimmed: SubSequence {
    var rest = self[...]
    while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest = rest.dropFirst() }
    while let byte = rest.last, byte == 0x20 || byte == 0x09 { rest = rest.dropLast() }
    return rest
  }
}

/// How a message's body ends (RFC 9112, 6.3).
enum Framing: Sendable, Equatable {
  case length(Int)
  case chunked
  case untilClose

  /// The framing of the answer to a request.
  init(of response: HTTPResponse, to method: HTTPRequest.Method) {
    let hasBody =
      method != .head && response.status.code >= 200 && ![204, 304].contains(response.status.code)
    self = hasBody ? Self.declared(response.headerFields) ?? .untilClose : .length(0)
  }

  /// The framing of a request; nil if its length cannot be determined, or if it is stated in two ways (RFC 9112, 6.1).
  init?(ofRequest fields: HTTPFields) {
    if fields.contains(.contentLength), fields.contains(.transferEncoding) { return nil }
    if let declared = Self.declared(fields) {
      self = declared
    } else if fields.contains(.contentLength) || fields.contains(.transferEncoding) {
      return nil
    } else {
      self = .length(0)
    }
  }

  /// The framing that the fields state; nil if they state no framing, or a framing that is not understood.
  private static func declared(_ fields: HTTPFields) -> Framing? {
    if fields.contains(.transferEncoding) {
      let codings = codings(fields)
      // Other codings are neither decoded nor passed on, so a message with another coding has no known framing.
      return codings.count == 1 && isChunked(codings[0]) ? .chunked : nil
    }
    let values = fields[values: .contentLength]
    if values.count == 1, let length = length(values[0]) { return .length(length) }
    // Several equal lengths count as one.
    let lengths = Set(
      values.flatMap {
        $0.split(separator: ",", omittingEmptySubsequences: false)
      }.map {
        String(decoding: Array($0.utf8).trimmed, as: UTF8.self)
      })
    return lengths.count == 1 ? lengths.first.flatMap(length).map { .length($0) } : nil
  }

  private static func codings(_ fields: HTTPFields) -> [ArraySlice<UInt8>] {
    fields[values: .transferEncoding].flatMap { $0.split(separator: ",") }
      .map { Array($0.utf8).trimmed }
  }

  /// Compares bytes, because Unicode has another character whose lower case is a k.
  private static func isChunked(_ coding: ArraySlice<UInt8>) -> Bool {
    coding.elementsEqual("chunked".utf8) { $0 | 0x20 == $1 }
  }

  /// Whether a body in chunks has a further coding: its end can be found, but its content cannot be read (RFC 9112, 6.1).
  static func hasUnknownCoding(_ fields: HTTPFields) -> Bool {
    let codings = codings(fields)
    guard !fields.contains(.contentLength), codings.count > 1, isChunked(codings[codings.count - 1])
    else { return false }
    return codings.dropLast().allSatisfy {
      !isChunked($0) && HTTPField.Name(String(decoding: $0, as: UTF8.self)) != nil
    }
  }

  /// A length; nil for text that has other characters than digits.
  private static func length(_ text: String) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  /// Whether the fields announce a body that is not empty. Even the fields of a response without a body may announce a body.
  static func announcesBody(_ fields: HTTPFields) -> Bool {
    declared(fields) != .length(0)
      && (fields.contains(.contentLength) || fields.contains(.transferEncoding))
  }

  /// The length that the fields state; nil for no length, and for several different lengths.
  static func statedLength(_ fields: HTTPFields) -> Int? {
    if case .length(let count) = declared(fields) { count } else { nil }
  }

  /// Whether the fields of a response contradict each other or name an unknown coding (RFC 9112, 6.3).
  static func isAmbiguous(_ fields: HTTPFields) -> Bool {
    (fields.contains(.contentLength) || fields.contains(.transferEncoding))
      && declared(fields) == nil
  }
}
