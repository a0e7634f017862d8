#if HTTP
  import HTTPTypes

  /// The part of a query that counts for a response (No-Vary-Search, draft-ietf-httpbis-no-vary-search-05, sections 4 to 6).
  struct SearchVariance: Sendable {
    /// The value of the field, from which ``init(_:)`` makes an equal value.
    let field: String
    private var isOrdered = true
    /// Whether only the parameters with the names in ``names`` count. If false, all other parameters count.
    private var isAllowList = false
    private var names: Set<[UInt8]> = []

    /// The limits of the field: a longer field or a longer list of names has no effect.
    private static let longestField = 1_024
    private static let mostNames = 64

    /// Reads the field. Nil if the field is missing, is invalid or changes nothing: then every byte of the query counts.
    init?(_ fields: HTTPFields) {
      self.init(fields.lines(of: .noVarySearch).joined(separator: ", "))
    }

    init?(_ field: String) {
      guard !field.isEmpty, field.utf8.count <= Self.longestField,
        let members = StructuredDictionary([field])?.members
      else { return nil }
      self.field = field
      var exceptions: [StructuredDictionary.Value]?
      for (key, value) in members {
        switch (key, value) {
        case ("key-order", .boolean(let isIgnored)): isOrdered = !isIgnored
        case ("params", .boolean(let areIgnored)): isAllowList = areIgnored
        case ("params", .list(let items)):
          guard let names = Self.names(items) else { return nil }
          self.names = names
        case ("except", .list(let items)): exceptions = items
        case ("key-order", _), ("params", _), ("except", _): return nil
        default: break
        }
      }
      if let exceptions {
        guard isAllowList, let names = Self.names(exceptions) else { return nil }
        self.names = names
      }
      if isOrdered, !isAllowList, names.isEmpty { return nil }
    }

    /// The decoded names; nil if an item is not a string, or for more than 64 items.
    private static func names(_ items: [StructuredDictionary.Value]) -> Set<[UInt8]>? {
      guard items.count <= mostNames else { return nil }
      var names: Set<[UInt8]> = []
      for item in items {
        guard case .string(let text) = item else { return nil }
        names.insert(decoded(text[...]))
      }
      return names
    }

    /// The parts of a URI that count; equivalent URIs have equal parts.
    func significant(_ uri: String) -> [UInt8] {
      let path = uri.prefix { $0 != "?" }
      var parameters = uri[path.endIndex...].dropFirst().split(separator: "&").map { parameter in
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (name: Self.decoded(parts[0]), value: parts.count > 1 ? Self.decoded(parts[1]) : [])
      }
      parameters.removeAll { names.contains($0.name) != isAllowList }
      // The sort is stable, so parameters with equal names keep their order.
      if !isOrdered { parameters.sort { $0.name.lexicographicallyPrecedes($1.name) } }
      return parameters.reduce(into: Array(path.utf8)) { bytes, parameter in
        // The lengths show where a name and a value end, so different parameters always give different bytes.
        bytes += "\n\(parameter.name.count) \(parameter.value.count) ".utf8
        bytes += parameter.name + parameter.value
      }
    }

    /// The form-decoded bytes of a name or a value, as UTF-8 (WHATWG URL, section 5.1).
    static func decoded(_ text: Substring) -> [UInt8] {
      var bytes: [UInt8] = []
      var rest = text.utf8[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
          bytes.append(value)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
      }
      return Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    /// The byte of two hexadecimal digits; nil for other text.
    static func hexadecimal(_ digits: some Collection<UInt8>) -> UInt8? {
      guard digits.count == 2, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit })
      else { return nil }
      return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
  }

  extension Set<String> {
    /// Whether the set has the form-decoded name of a query parameter, in lower case.
    package func hasParameter(_ name: Substring) -> Bool {
      let isEncoded = name.contains { $0 == "%" || $0 == "+" }
      let name =
        isEncoded ? String(decoding: SearchVariance.decoded(name), as: UTF8.self) : String(name)
      return contains(name.lowercased())
    }
  }
#endif
