import LarderSystem

/// The names of the fields in JSON text.
package enum JSONFields {
  private static let deepest = 2

  /// The fields that a path of an expression can reach without an index: `name`, and `a.b` for the fields of objects in objects;
  /// none for a value that is no JSON object.
  package static func names(of value: [UInt8]) -> [String] {
    let text: JSONText
    do throws(JSONText.ParseError) { text = try JSONText(value) } catch { return [] }
    var names: [String] = []
    var path: [String] = []
    var containers: [Bool] = []
    var last: String?
    for token in text.tokens {
      switch token.kind {
      case .open:
        // The elements of arrays need an index.
        let isObject = value[token.range.lowerBound] == UInt8(ascii: "{")
        containers.append(isObject)
        path.append(last ?? "")
        last = nil
      case .close:
        containers.removeLast()
        path.removeLast()
        last = nil
      case .name:
        let bytes = JSONLookup.string(value.span, token.range)
        last = QueryToken.isIdentifier(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
        if let last, path.count <= deepest, containers.allSatisfy(\.self),
          path.dropFirst().allSatisfy({ !$0.isEmpty })
        {
          names.append((path.dropFirst() + [last]).joined(separator: "."))
        }
      case .value: last = nil
      }
    }
    return names
  }

  /// A name that occurs twice in the same object; nil if there is none, or the text is not JSON.
  ///
  /// - Returns: the name, and its second place in quotes.
  package static func repeated(in text: [UInt8]) -> (name: [UInt8], range: Range<Int>)? {
    var repeated: Range<Int>?
    var index = 0
    do throws(JSONError) {
      try JSONGrammar.text(text.span, &index) { bytes, index throws(JSONError) in
        try findRepeated(bytes, &index, depth: 0, &repeated)
      }
    } catch {
      return nil
    }
    return repeated.map { (JSONLookup.string(text.span, $0), $0) }
  }

  /// A field of a JSON object that is not one of these; nil if there is none.
  ///
  /// - Returns: the name, and its place in quotes.
  package static func unknown(
    in text: [UInt8], among names: Set<[UInt8]>
  ) -> (name: [UInt8], range: Range<Int>)? {
    var unknown: Range<Int>?
    var index = 0
    do throws(JSONError) {
      try JSONGrammar.text(text.span, &index) { bytes, index throws(JSONError) in
        guard JSONGrammar.opens(bytes, index) else { return try JSONGrammar.scalar(bytes, &index) }
        try JSONGrammar.parts(bytes, &index, depth: 0) { bytes, name, index throws(JSONError) in
          if unknown == nil, let name {
            if !names.contains(JSONLookup.string(bytes, name)) { unknown = name }
          }
          try JSONGrammar.value(bytes, &index, depth: 1)
        }
      }
    } catch {
      // A name before text that is no JSON, or nested too deep, is there all the same.
    }
    return unknown.map { (JSONLookup.string(text.span, $0), $0) }
  }

  private static func findRepeated(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int, _ repeated: inout Range<Int>?
  ) throws(JSONError) {
    guard JSONGrammar.opens(bytes, index) else { return try JSONGrammar.scalar(bytes, &index) }
    var names: Set<[UInt8]> = []
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      if let name, !names.insert(JSONLookup.string(bytes, name)).inserted {
        repeated = repeated ?? name
      }
      try findRepeated(bytes, &index, depth: depth + 1, &repeated)
    }
  }
}
