/// Matchers for `~`: a plain text is searched byte by byte, everything else by a regular expression.
enum QueryRegex {
  static func matcher(_ source: String) -> (_ text: [UInt8]) -> Bool {
    let ignoresCase = source.hasPrefix("(?i)")
    let literal = Array((ignoresCase ? source.dropFirst(4) : source[...]).utf8)
    let special: StaticASCII = "\\^$.|?*+()[]{}"
    let isPlain = !literal.contains(where: special.bytes.contains)
    let regex = compiled(source)
    guard isPlain, !ignoresCase || literal.allSatisfy({ $0 < 0x80 }), !literal.isEmpty else {
      return regex
    }
    let wanted = ignoresCase ? literal.map(lowercased) : literal
    return { text in
      // A letter beyond ASCII can have an ASCII form in the other case.
      if ignoresCase, !text.allSatisfy({ $0 < 0x80 }) { return regex(text) }
      guard text.count >= wanted.count else { return false }
      for start in 0...(text.count - wanted.count) {
        var length = 0
        while length < wanted.count,
          wanted[length] == (ignoresCase ? lowercased(text[start + length]) : text[start + length])
        {
          length += 1
        }
        if length == wanted.count { return true }
      }
      return false
    }
  }

  private static func compiled(_ source: String) -> (_ text: [UInt8]) -> Bool {
    do {
      let regex = try Regex(source).matchingSemantics(.unicodeScalar)
      return { text in
        String(validating: text, as: UTF8.self)?.firstMatch(of: regex) != nil
      }
    } catch {
      preconditionFailure("the parser checked \(source)")
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
