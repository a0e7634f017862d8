/// Finds text in bytes, at most once in each line. A finder has state, so each command needs a finder of its own.
package struct TextFinder {
  private let firstMatch: (ArraySlice<UInt8>) throws -> Range<Int>?

  /// With `isExact`, case matters. `pause` runs often; an error that `pause` throws ends the search.
  package init(
    _ text: [UInt8], isRegex: Bool = false, isExact: Bool, pause: @escaping () throws -> Void
  ) throws(ShellError) {
    guard !text.isEmpty else {
      throw ShellError(.usage, "there is no text to search for", hint: "`search TEXT`")
    }
    if !isRegex, isExact || text.allSatisfy({ $0 < 0x80 }) {
      let wanted = isExact ? text : text.map(\.lowercased)
      firstMatch = { try $0.firstRange(of: wanted, ignoringCase: !isExact, pause: pause) }
      return
    }
    guard String(validating: text, as: UTF8.self) != nil else {
      throw ShellError(
        .usage, "\(text) is not UTF-8, so that letters cannot be told from capitals",
        hint: "with --case it is found byte by byte")
    }
    let source = isRegex ? text : text.flatMap { $0.isPunctuation ? [.backslash, $0] : [$0] }
    let matcher = try RegularExpression(
      Word(source, isBare: false, at: 0..<0), ignoresCase: !isExact
    ).matcher(pause)
    firstMatch = { try matcher.firstMatch(in: $0) }
  }

  /// The first match of each line. A line without a match adds nothing.
  package func finds(in bytes: [UInt8]) throws -> [Range<Int>] {
    var (finds, start) = ([Range<Int>](), 0)
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: .newline) ?? bytes.count
      if let find = try firstMatch(bytes[start..<end]) { finds.append(find) }
      start = end + 1
    }
    return finds
  }
}
