/// Finds the values of a path in JSON text. A lookup checks the whole text, and decodes only the values that it finds.
package struct JSONLookup {
  private let parts: [QueryPath.Part]
  private var found: [Range<Int>] = []

  /// The ranges of all values at the path; nil if the text is not JSON.
  package static func ranges(of parts: [QueryPath.Part], in bytes: Span<UInt8>) -> [Range<Int>]? {
    try? find(parts, in: bytes)
  }

  /// All values at the path; empty if the text is not JSON.
  static func values(of parts: [QueryPath.Part], in bytes: [UInt8]) -> [QueryValue] {
    (ranges(of: parts, in: bytes.span) ?? []).map { value(bytes.span, $0) }
  }

  static func find(
    _ parts: [QueryPath.Part], in bytes: Span<UInt8>
  ) throws(JSONError) -> [Range<Int>] {
    var lookup = JSONLookup(parts: parts)
    let failure = JSONGrammar.failure(of: bytes) { bytes, index throws(JSONError) in
      try lookup.visit(bytes, &index, part: 0, depth: 0)
    }
    if let failure { throw failure.error }
    return lookup.found
  }

  /// Reads a value at the path `parts[..<part]`, and looks for the rest of the path in this value.
  private mutating func visit(
    _ bytes: Span<UInt8>, _ index: inout Int, part: Int, depth: Int
  ) throws(JSONError) {
    guard part < parts.count, JSONGrammar.opens(bytes, index) else {
      let start = index
      try JSONGrammar.value(bytes, &index, depth: depth)
      if part == parts.count { found.append(start..<index) }
      return
    }
    switch (bytes[index], parts[part]) {
    case (UInt8(ascii: "{"), .field(let name)):
      let before = found.count
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, key, index throws(JSONError) in
        guard let key, Self.isName(name, bytes, key) else {
          return try JSONGrammar.value(bytes, &index, depth: depth + 1)
        }
        // If two fields have the same name, the last field counts, so values from the first field are removed.
        found.removeLast(found.count - before)
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
    case (UInt8(ascii: "["), .index(let position)):
      var starts: [Int] = []
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, _, index throws(JSONError) in
        starts.append(index)
        guard position == starts.count - 1 else {
          return try JSONGrammar.value(bytes, &index, depth: depth + 1)
        }
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
      if position < 0, starts.count + position >= 0 {
        var start = starts[starts.count + position]
        try visit(bytes, &start, part: part + 1, depth: depth + 1)
      }
    case (UInt8(ascii: "["), .each):
      try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, _, index throws(JSONError) in
        try visit(bytes, &index, part: part + 1, depth: depth + 1)
      }
    default: try JSONGrammar.value(bytes, &index, depth: depth)
    }
  }

  /// Whether the string in a range is `name`; a string with escapes is decoded first.
  private static func isName(_ name: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var length = 0
    for index in range.lowerBound + 1..<range.upperBound - 1 {
      let byte = bytes[index]
      if byte == .backslash { return string(bytes, range) == name }
      guard length < name.count, byte == name[length] else { return false }
      length += 1
    }
    return length == name.count
  }
}
