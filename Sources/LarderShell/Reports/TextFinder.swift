import ShellLanguage

/// Finds text in bytes, once in each line. Made for one command: a compiled expression cannot be shared.
struct TextFinder {
  private let firstMatch: (ArraySlice<UInt8>) -> Range<Int>?

  /// - Parameter isExact: Capitals and small letters differ.
  init(_ text: [UInt8], isRegex: Bool, isExact: Bool) throws(ShellError) {
    guard !text.isEmpty else {
      throw ShellError(.usage, "there is no text to search for", hint: "`search TEXT`")
    }
    if !isRegex, isExact || text.allSatisfy({ $0 < 0x80 }) {
      let wanted = isExact ? text : text.map(\.lowercased)
      firstMatch = { Self.find(wanted, in: $0, isExact: isExact) }
      return
    }
    guard let source = String(validating: text, as: UTF8.self) else {
      throw ShellError(
        .usage, "\(text) is not UTF-8, so that letters cannot be told from capitals",
        hint: "with --case it is found byte by byte")
    }
    firstMatch = try Self.matcher(isRegex ? source : Self.escaped(source), isExact: isExact)
  }

  /// Where it is found first in each line.
  func finds(in bytes: [UInt8]) -> [Range<Int>] {
    var finds: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: .newline) ?? bytes.count
      if let find = firstMatch(bytes[start..<end]) { finds.append(find) }
      start = end + 1
    }
    return finds
  }

  private static func find(
    _ wanted: [UInt8], in line: ArraySlice<UInt8>, isExact: Bool
  ) -> Range<Int>? {
    guard line.count >= wanted.count else { return nil }
    for start in line.startIndex...(line.endIndex - wanted.count) {
      var length = 0
      while length < wanted.count,
        wanted[length] == (isExact ? line[start + length] : line[start + length].lowercased)
      {
        length += 1
      }
      if length == wanted.count { return start..<start + length }
    }
    return nil
  }

  /// Bytes that are not UTF-8 have no match.
  private static func matcher(
    _ source: String, isExact: Bool
  ) throws(ShellError) -> (ArraySlice<UInt8>) -> Range<Int>? {
    let regex: Regex<AnyRegexOutput>
    do {
      regex = try Regex(source).matchingSemantics(.unicodeScalar).ignoresCase(!isExact)
    } catch {
      throw ShellError(
        .badPattern, "invalid regular expression: \(KeyRegex.reason(error))", hint: nil)
    }
    return { line in
      guard let text = String(validating: line, as: UTF8.self),
        let match = text.firstMatch(of: regex)
      else { return nil }
      let lower = text.utf8.distance(from: text.startIndex, to: match.range.lowerBound)
      let upper = text.utf8.distance(from: text.startIndex, to: match.range.upperBound)
      return line.startIndex + lower..<line.startIndex + upper
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII, UInt8(ascii: scalar).isPunctuation { result.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
