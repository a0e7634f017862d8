/// Finds text in bytes. A finder has state, so each command needs a finder of its own.
package struct TextFinder {
  private let firstMatch: (ArraySlice<UInt8>) throws -> Range<Int>?
  private let hasNewline: Bool

  /// With `isExact`, case matters. Without UTF-8, only ASCII letters match in either case. An error of `pause` ends the search.
  package init(
    _ text: [UInt8], isRegex: Bool = false, isExact: Bool, pause: @escaping () throws -> Void
  ) throws(ShellError) {
    hasNewline = text.contains(.newline)
    let isASCII = text.allSatisfy { $0 < 0x80 }
    if !isRegex, isExact || isASCII || String(validating: text, as: UTF8.self) == nil {
      let wanted = isExact ? text : text.map(\.lowercased)
      firstMatch = { try $0.firstRange(of: wanted, ignoringCase: !isExact, pause: pause) }
      return
    }
    let source = isRegex ? text : text.flatMap { $0.isPunctuation ? [.backslash, $0] : [$0] }
    let matcher = try RegularExpression(
      Word(source, isBare: false, at: 0..<0), ignoresCase: !isExact
    ).matcher(pause)
    firstMatch = { try matcher.firstMatch(in: $0) }
  }

  /// Whether the text is in the bytes, perhaps across lines. An empty text is in all bytes.
  package func matches(_ bytes: [UInt8]) throws -> Bool { try firstMatch(bytes[...]) != nil }

  /// The first match of each line. A line without a match adds nothing. For a text with a newline, the first match in all lines.
  package func finds(in bytes: [UInt8]) throws -> [Range<Int>] {
    if hasNewline { return try firstMatch(bytes[...]).map { [$0] } ?? [] }
    var (finds, start) = ([Range<Int>](), 0)
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: .newline) ?? bytes.count
      if let find = try firstMatch(bytes[start..<end]) { finds.append(find) }
      start = end + 1
    }
    return finds
  }
}
