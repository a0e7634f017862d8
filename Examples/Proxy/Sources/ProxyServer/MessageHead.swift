import HTTPTypes
import LarderHTTP

/// The first part of an HTTP/1 message, line by line as it came (RFC 9112, 2.1).
struct MessageHead: Sendable, Equatable {
  var start: String
  var fields: HTTPFields
  /// The whole head as it came; empty for a long one.
  let bytes: [UInt8]

  /// The length, in bytes, up to which a head is kept.
  static let longestKept = 2_048

  /// Reads a head with the empty line at its end. Nil where the first line says nothing.
  ///
  /// Where `isLenient`, lines that continue the one before belong to it, and lines that are no fields are left out; where
  /// not, both make it nil (RFC 9112, 5.2).
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
        // A server refuses these, since others may read them as fields of their own.
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

  /// The first line of a request with the bytes of its target that are beyond ASCII percent-encoded.
  ///
  /// As text, different bytes that are no UTF-8 would become the same target.
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
  /// Without the spaces and tabs around it.
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

  /// Of the answer to a request.
  init(of response: HTTPResponse, to method: HTTPRequest.Method) {
    let hasBody =
      method != .head && response.status.code >= 200 && ![204, 304].contains(response.status.code)
    self = hasBody ? Self.declared(response.headerFields) ?? .untilClose : .length(0)
  }

  /// Of a request; nil for one whose length cannot be told, or that states it in two ways (RFC 9112, 6.1).
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

  /// What the fields say; nil for nothing, and for what cannot be understood.
  private static func declared(_ fields: HTTPFields) -> Framing? {
    if fields.contains(.transferEncoding) {
      let codings = codings(fields)
      // No other coding is decoded here, and none is passed on.
      return codings.count == 1 && isChunked(codings[0]) ? .chunked : nil
    }
    let values = fields[values: .contentLength]
    if values.count == 1, let length = length(values[0]) { return .length(length) }
    // Several equal ones count as one.
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

  /// Bytes are compared, because Unicode has a further sign whose lower case is a k.
  private static func isChunked(_ coding: ArraySlice<UInt8>) -> Bool {
    coding.elementsEqual("chunked".utf8) { $0 | 0x20 == $1 }
  }

  /// Whether the end of a request can be told, but not its content: chunks of another coding (RFC 9112, 6.1).
  static func hasUnknownCoding(_ fields: HTTPFields) -> Bool {
    let codings = codings(fields)
    guard !fields.contains(.contentLength), codings.count > 1, isChunked(codings[codings.count - 1])
    else { return false }
    return codings.dropLast().allSatisfy {
      !isChunked($0) && HTTPField.Name(String(decoding: $0, as: UTF8.self)) != nil
    }
  }

  /// A length of digits alone.
  private static func length(_ text: String) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  /// Whether the fields speak of a body that is not empty, as those of a response may to which none belongs.
  static func announcesBody(_ fields: HTTPFields) -> Bool {
    declared(fields) != .length(0)
      && (fields.contains(.contentLength) || fields.contains(.transferEncoding))
  }

  /// The length that the fields state; nil for none, and for several.
  static func statedLength(_ fields: HTTPFields) -> Int? {
    if case .length(let count) = declared(fields) { count } else { nil }
  }

  /// Whether the fields of a response contradict each other or name a coding that is not known (RFC 9112, 6.3).
  static func isAmbiguous(_ fields: HTTPFields) -> Bool {
    (fields.contains(.contentLength) || fields.contains(.transferEncoding))
      && declared(fields) == nil
  }
}
