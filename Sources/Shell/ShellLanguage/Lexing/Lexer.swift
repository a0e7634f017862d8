/// Splits lines into commands and words. An open quote or JSON value continues on the next line.
package struct Lexer {
  package struct Segment: Sendable {
    package internal(set) var words: [Word] = []
    package internal(set) var output: Redirection?
    /// The operator `>` or `>>` while the name of its file is still missing; otherwise nil.
    var awaitsFile: (appends: Bool, range: Range<Int>)?
  }

  package internal(set) var text: [UInt8] = []
  /// The commands so far, at least one; the last command may be unfinished.
  package internal(set) var segments = [Segment()]
  package internal(set) var current: Word?
  /// The offset of the quote or bracket that opened a quoted part or a JSON value; nil if all are closed.
  package internal(set) var open: Int?
  var json = JSONBalance()

  package var words: [Word] { segments[segments.count - 1].words }

  /// Reads a line without its newline. If a quote stays open, the newline belongs to the word.
  package mutating func add(line: some Sequence<UInt8>) throws(ShellError) {
    if open != nil {
      text.append(.newline)
      append([.newline], isBare: false, at: text.count - 1)
    }
    try scan(line)
    if open == nil {
      try endWord(at: text.count)
      try checkFileIsNamed()
    }
  }

  /// Reads the beginning of a line for completion. The last word stays open, because a person may continue the word.
  package mutating func scan(_ part: some Sequence<UInt8>) throws(ShellError) {
    var index = text.count
    text.append(contentsOf: part)
    while index < text.count {
      switch open.map({ text[$0] }) {
      case nil: index = try scanBare(at: index)
      case let quote? where quote == .quote || quote == .doubleQuote:
        index = try scanQuoted(in: quote, at: index)
      default: index = try scanJSON(at: index)
      }
    }
    current?.end(at: text.count)
  }

  private static let operators = Set(";|><&".utf8)
  private static let endsBareRun = operators.union(" \t\r'\"\\".utf8)

  private mutating func scanBare(at index: Int) throws(ShellError) -> Int {
    let byte = text[index]
    switch byte {
    case .space, .tab,
      .carriageReturn where index == text.count - 1:
      try endWord(at: index)
    case UInt8(ascii: "#") where current == nil: return text.count
    case .quote, .doubleQuote:
      try checkQuoteOpens(at: index)
      open = index
      // The empty piece marks the word as quoted, so that `""` is a word.
      begin(isBare: false, at: index)
    case .backslash:
      let (bytes, next) = try escape(at: index)
      begin(isBare: false, at: index)
      append(bytes[...], isBare: false, at: index)
      return next
    case _ where Self.operators.contains(byte): return try scanOperator(at: index)
    case UInt8(ascii: "{") where current == nil && beginsJSON(at: index),
      UInt8(ascii: "[") where current == nil && beginsJSON(at: index):
      open = index
      json = JSONBalance()
      begin(isBare: false, at: index)
      return index
    default:
      let end = text[(index + 1)...].firstIndex(where: Self.endsBareRun.contains) ?? text.count
      append(text[index..<end], isBare: true, at: index)
      return end
    }
    return index + 1
  }

  /// A quote may open at the start of a word, after a quoted part, after punctuation that introduces a value, or after the dot
  /// of a path: `."odd name"`. Elsewhere, as in `{a"b"}`, throws an error, because the quotes would get lost without notice.
  private func checkQuoteOpens(at index: Int) throws(ShellError) {
    guard let word = current, let piece = word.pieces.last, piece.isBare, !piece.range.isEmpty,
      !"@=,*?![]{}".utf8.contains(text[index - 1]), !word.endsInDotOfPath
    else { return }
    let close = text[(index + 1)...].firstIndex(of: text[index])
    let end = close.map { close in
      text[close...].firstIndex { $0 == .space || $0 == .tab } ?? text.count
    }
    let whole = end.map { Array(text[word.range.lowerBound..<$0]) } ?? [.quote]
    throw wrong(
      index..<index + 1, "a quote may not open inside an unquoted word",
      whole.contains(.quote)
        ? "quote the whole word" : "write '\(String(decoding: whole, as: UTF8.self))'")
  }

  private mutating func scanQuoted(in quote: UInt8, at index: Int) throws(ShellError) -> Int {
    switch text[index] {
    case quote:
      open = nil
      return index + 1
    case .backslash where quote == .doubleQuote:
      let (bytes, next) = try escape(at: index)
      append(bytes[...], isBare: false, at: index)
      return next
    default:
      let end =
        text[(index + 1)...].firstIndex {
          $0 == quote || $0 == .backslash && quote == .doubleQuote
        } ?? text.count
      append(text[index..<end], isBare: false, at: index)
      return end
    }
  }

  private mutating func begin(isBare: Bool, at offset: Int) {
    if current == nil { current = Word(bytes: [], pieces: [], range: offset..<offset) }
    let end = current?.bytes.count ?? 0
    current?.pieces.append(Word.Piece(range: end..<end, isBare: isBare, offset: offset))
  }

  mutating func append(_ run: ArraySlice<UInt8>, isBare: Bool, at offset: Int) {
    if current?.pieces.last?.isBare != isBare { begin(isBare: isBare, at: offset) }
    current?.append(run)
  }

  mutating func endWord(at index: Int) throws(ShellError) {
    guard var word = current else { return }
    current = nil
    word.end(at: index)
    let last = segments.count - 1
    if let (appends, _) = segments[last].awaitsFile {
      segments[last].awaitsFile = nil
      segments[last].output = .file(word, appends: appends)
    } else if segments[last].output != nil {
      throw wrong(word.range, "unexpected argument \(word.bytes)", "separate commands by \";\"")
    } else {
      segments[last].words.append(word)
    }
  }
}

extension Word {
  /// Whether the word ends with a dot after which a field follows, in a path or in a list of paths.
  fileprivate var endsInDotOfPath: Bool {
    guard bytes.last == UInt8(ascii: ".") else { return false }
    return leads(with: ".") || bytes.dropLast().last == UInt8(ascii: ",")
  }

  fileprivate mutating func append(_ run: ArraySlice<UInt8>) {
    bytes.append(contentsOf: run)
    let last = pieces.count - 1
    pieces[last].range = pieces[last].range.lowerBound..<bytes.count
  }

  fileprivate mutating func end(at offset: Int) { range = range.lowerBound..<offset }
}
