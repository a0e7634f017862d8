#if Curl
  import HTTPTypes
  import LarderHTTP

  /// Makes responses from the lines that a server sends before a body.
  struct HeadParser {
    /// The largest number of bytes of all lines together. The lines of interim responses count, too.
    private static let largestHead = 256 << 10

    private var lines: [[UInt8]] = []
    private var size = 0
    /// Whether the head of the final response is complete. Lines after this head are trailers, which are ignored.
    private(set) var isComplete = false

    /// Takes a line, with or without its line break. Returns the interim or final response that the line completes.
    mutating func add(_ bytes: [UInt8]) throws -> HTTPResponse? {
      if isComplete { return nil }
      size += bytes.count
      guard size <= Self.largestHead else {
        throw Self.invalid("more than \(Self.largestHead >> 10) KB of header fields")
      }
      var line = bytes[...]
      if line.last == 0x0A { line.removeLast() }
      if line.last == 0x0D { line.removeLast() }
      if line.isEmpty { return try end() }
      guard let first = line.first, Self.isBlank(first) else {
        lines.append(Array(line))
        return nil
      }
      // A line that begins with a blank continues the field of the previous line (RFC 9112, section 5.2).
      guard lines.count > 1 else { throw Self.invalid("a field without a name") }
      lines[lines.count - 1] += [0x20] + line.drop(while: Self.isBlank)
      return nil
    }

    private mutating func end() throws -> HTTPResponse {
      defer { lines = [] }
      guard let first = lines.first else { throw Self.invalid("a status line is missing") }
      let fields = lines.dropFirst()
      try HTTPCacheError.check(fieldCount: fields.count)
      var response = HTTPResponse(status: try Self.status(first))
      for line in fields { response.headerFields.append(try Self.field(line)) }
      // The status 101 is below 200, but its response is final (RFC 9110, section 15.2).
      isComplete = response.status.code >= 200 || response.status.code == 101
      return response
    }

    private static func status(_ line: [UInt8]) throws -> HTTPResponse.Status {
      let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count > 1, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
        parts[1].allSatisfy({ (0x30...0x39).contains($0) }),
        let code = Int(String(decoding: parts[1], as: UTF8.self)), code >= 100
      else { throw invalid("no status line") }
      let phrase = parts.count > 2 ? String(decoding: parts[2], as: UTF8.self) : ""
      return .init(code: code, reasonPhrase: phrase)
    }

    private static func field(_ line: [UInt8]) throws -> HTTPField {
      guard let colon = line.firstIndex(of: 0x3A),
        let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
      else { throw invalid("a field without a valid name") }
      let value = line[(colon + 1)...]
      guard !value.contains(where: { [0x00, 0x0A, 0x0D].contains($0) }) else {
        throw invalid("the field \(name.rawName) has an invalid value")
      }
      let end = value.lastIndex { !isBlank($0) } ?? value.startIndex - 1
      return HTTPField(name: name, lenientValue: value[...end].drop(while: isBlank))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func invalid(_ reason: String) -> CurlError {
      CurlError(.notHTTP, "the response is not HTTP: \(reason)")
    }
  }
#endif
