#if HTTP
  public import HTTPTypes

  /// The members of a comma-separated field, over all its lines (RFC 9110, 5.6.1).
  ///
  /// Commas in quoted strings do not separate members; a string without its last quote ends with its line. The result has no
  /// empty members, and no spaces or tabs around members.
  func fieldMembers(_ lines: [String]) -> [Substring] {
    var members: [Substring] = []
    for line in lines { line[...].forEachPart(endedBy: ",") { members.append($0) } }
    return members.filter { !$0.isEmpty }
  }

  extension Substring {
    /// Calls `body` with each part between separators outside of quoted strings, without the spaces and tabs around the part.
    func forEachPart(endedBy separator: Unicode.Scalar, _ body: (Substring) -> Void) {
      var start = startIndex
      var isQuoted = false
      var isEscaped = false
      for index in utf8.indices {
        let byte = utf8[index]
        if isEscaped {
          isEscaped = false
        } else if isQuoted, byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isQuoted.toggle()
        } else if byte == UInt8(ascii: separator), !isQuoted {
          body(self[start..<index].trimmed)
          start = utf8.index(after: index)
        }
      }
      body(self[start...].trimmed)
    }

    var trimmed: Substring {
      var bytes = utf8
      while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
      while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
      return Substring(bytes)
    }

    var isQuoted: Bool {
      utf8.count >= 2 && utf8.first == UInt8(ascii: "\"") && utf8.last == UInt8(ascii: "\"")
    }

    /// The text of a quoted string (RFC 9110, 5.6.4); nil for other text.
    var unquoted: String? {
      guard isQuoted else { return nil }
      var bytes: [UInt8] = []
      var isEscaped = false
      for byte in utf8.dropFirst().dropLast() {
        if !isEscaped, byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if !isEscaped, byte == UInt8(ascii: "\"") {
          return nil
        } else {
          bytes.append(byte)
          isEscaped = false
        }
      }
      return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
  }

  extension StringProtocol {
    /// Whether both texts have the same bytes. `==` also accepts other bytes for one character, such as a combining accent.
    func hasBytes(of other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
  }

  extension HTTPField {
    /// The bytes of the value, which may be invalid UTF-8.
    public var valueBytes: [UInt8] { unsafe withUnsafeBytesOfValue { unsafe Array($0) } }

    /// The value as text. Different bytes give different texts: in a value that is not UTF-8, a NUL and two digits replace
    /// each byte beyond ASCII. No value contains a NUL.
    var faithfulText: String {
      let bytes = valueBytes
      if let text = String(validating: bytes, as: UTF8.self) { return text }
      return bytes.map { byte in
        byte < 0x80
          ? String(Unicode.Scalar(byte)) : "\0" + Secrets.hexadecimal(CollectionOfOne(byte))
      }.joined()
    }
  }

  extension String {
    var trimmed: Substring { self[...].trimmed }

    /// Whether the value has a replacement character, which may come from invalid UTF-8. The first test is fast and is enough
    /// for nearly all values, because nearly all are ASCII.
    fileprivate var hasReplacement: Bool {
      utf8.contains(0xEF) && unicodeScalars.contains("\u{FFFD}")
    }
  }

  extension HTTPField.Name {
    static let host = Self("Host")!
    static let pragma = Self("Pragma")!
    static let keepAlive = Self("Keep-Alive")!
    static let proxyConnection = Self("Proxy-Connection")!
    static let setCookie2 = Self("Set-Cookie2")!
    static let cdnCacheControl = Self("CDN-Cache-Control")!
    static let cacheGroups = Self("Cache-Groups")!
    static let cacheGroupInvalidation = Self("Cache-Group-Invalidation")!
    static let clearSiteData = Self("Clear-Site-Data")!
    static let noVarySearch = Self("No-Vary-Search")!
    static let contentDigest = Self("Content-Digest")!
  }

  extension HTTPFields {
    func members(of name: HTTPField.Name) -> [Substring] { fieldMembers(lines(of: name)) }

    /// The values of a name line by line, for comparisons byte for byte.
    func lines(of name: HTTPField.Name) -> [String] {
      let values = self[values: name]
      return values.contains(where: \.hasReplacement)
        ? self[fields: name].map(\.faithfulText) : values
    }

    /// Fields that are only for the next hop even if `Connection` omits them (RFC 9110, 7.6.1), and proxy fields (RFC 9111, 3.1).
    static let hopByHop: Set<HTTPField.Name> = [
      .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
      .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
    ]

    /// The fields without the fields of the connection, and without the fields that `Connection` names.
    ///
    /// A field on which caching relies stays even if `Connection` names it.
    public var endToEnd: HTTPFields {
      guard contains(where: { Self.hopByHop.contains($0.name) }) else { return self }
      let named = Set(members(of: .connection).compactMap { HTTPField.Name(String($0)) })
      return filter { field in
        !Self.hopByHop.contains(field.name)
          && (!named.contains(field.name) || Self.indispensable.contains(field.name))
      }
    }

    private static let indispensable: Set<HTTPField.Name> = [.cacheControl, .date, .age, .vary]

    /// The fields with one field `Cookie`. `HTTPFields` splits a cookie into a field for each pair, as HTTP/2 allows, but HTTP/1.1
    /// allows only one such field (RFC 9113, section 8.2.3).
    package var withOneCookie: HTTPFields {
      let cookies = self[fields: .cookie].map(\.valueBytes)
      guard cookies.count > 1 else { return self }
      var result = self
      let whole = Array(cookies.joined(separator: "; ".utf8))
      result[fields: .cookie] = [HTTPField(name: .cookie, lenientValue: whole)]
      return result
    }

    mutating func removeAll(_ names: Set<HTTPField.Name>) {
      let kept = filter { !names.contains($0.name) }
      if kept.count != count { self = HTTPFields(kept) }
    }
  }
#endif
