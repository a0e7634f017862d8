/// Splits the lines of one command into words; a quote that is open at the end of a line waits for
/// the next one.
package struct Lexer {
  package enum Quote { case single, double }

  private(set) var text: [UInt8] = []
  private(set) var words: [Word] = []
  /// The word that was begun and not ended.
  private(set) var current: Word?
  /// The quote that is open, and where it was opened.
  private(set) var open: (quote: Quote, offset: Int)?

  /// Reads a line, without its newline. If a quote stays open the newline belongs to the word.
  package mutating func add(line: some Sequence<UInt8>) throws(ShellError) {
    if open != nil {
      text.append(.newline)
      append([.newline], isBare: false, at: text.count - 1)
    }
    try scan(line)
    if open == nil { try endWord(at: text.count) }
  }

  /// Reads the beginning of a line, leaving its last word unended, as completion needs it.
  package mutating func scan(_ part: some Sequence<UInt8>) throws(ShellError) {
    var index = text.count
    text.append(contentsOf: part)
    while index < text.count {
      index = open == nil ? try scanBare(at: index) : try scanQuoted(at: index)
    }
    current?.end(at: text.count)
  }

  private mutating func scanBare(at index: Int) throws(ShellError) -> Int {
    let byte = text[index]
    switch byte {
    case .space, .tab:
      try endWord(at: index)
    case .carriageReturn where index == text.count - 1:
      try endWord(at: index)
    case UInt8(ascii: "#") where current == nil:
      return text.count
    case .quote, .doubleQuote:
      open = (byte == .quote ? .single : .double, index)
      // An empty quote is an empty piece: it makes the word, and makes it quoted.
      begin(isBare: false, at: index)
    case .backslash:
      let (bytes, next) = try escape(at: index)
      begin(isBare: false, at: index)
      append(bytes[...], isBare: false, at: index)
      return next
    default:
      let end = text[(index + 1)...].firstIndex(where: Self.endsBareRun.contains) ?? text.count
      append(text[index..<end], isBare: true, at: index)
      return end
    }
    return index + 1
  }

  private mutating func scanQuoted(at index: Int) throws(ShellError) -> Int {
    let quote: UInt8 = open?.quote == .single ? .quote : .doubleQuote
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

  private static let endsBareRun: Set<UInt8> = [
    .space, .tab, .carriageReturn, .quote, .doubleQuote, .backslash,
  ]
  private static let reserved = Set(";|><&".utf8)

  private mutating func begin(isBare: Bool, at offset: Int) {
    if current == nil { current = Word(bytes: [], pieces: [], range: offset..<offset) }
    current?.begin(isBare: isBare, at: offset)
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>, isBare: Bool, at offset: Int) {
    if current == nil { begin(isBare: isBare, at: offset) }
    current?.append(bytes, isBare: isBare, at: offset)
  }

  private mutating func endWord(at index: Int) throws(ShellError) {
    guard var word = current else { return }
    current = nil
    word.end(at: index)
    guard !(word.isBare && word.bytes.allSatisfy(Self.reserved.contains)) else {
      throw ShellError(
        .usage, "\(word.bytes) is reserved for what may come", at: word.range,
        hint: "put it in quotes if it belongs to the key")
    }
    words.append(word)
  }
}

extension Word {
  fileprivate mutating func begin(isBare: Bool, at offset: Int) {
    pieces.append(Piece(range: bytes.count..<bytes.count, isBare: isBare, offset: offset))
  }

  fileprivate mutating func append(_ run: ArraySlice<UInt8>, isBare: Bool, at offset: Int) {
    if pieces[pieces.count - 1].isBare != isBare { begin(isBare: isBare, at: offset) }
    bytes.append(contentsOf: run)
    let last = pieces.count - 1
    pieces[last].range = pieces[last].range.lowerBound..<bytes.count
  }

  fileprivate mutating func end(at offset: Int) { range = range.lowerBound..<offset }
}
