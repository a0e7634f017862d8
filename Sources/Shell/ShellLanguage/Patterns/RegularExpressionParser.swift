/// Reads a regular expression, and refuses constructs that need backtracking.
struct RegularExpressionParser {
  private static let deepest = 200
  private static let mostRepeated = 1000

  /// `seesLines` means that `^` and `$` match at the start and the end of each line.
  typealias Flags = (ignoresCase: Bool, seesLines: Bool, crossesLines: Bool)

  private static let exceptNewline = CharacterSet32([.kind(.newline, isNegated: true)])

  let source: [Unicode.Scalar]
  var index = 0
  private let text: String
  private let word: Word
  private(set) var flags: Flags
  private var depth = 0

  init(_ text: String, of word: Word, ignoresCase: Bool) {
    source = Array(text.unicodeScalars)
    (self.text, self.word) = (text, word)
    flags = (ignoresCase: ignoresCase, seesLines: false, crossesLines: false)
  }

  mutating func parse() throws(ShellError) -> PatternNode {
    let node = try alternatives()
    // `alternatives` stops at the end of the text or before a `)`. No group is open here, so a `)` is an error.
    guard index == source.count else { throw failure("unmatched \")\"") }
    return node
  }

  private mutating func alternatives() throws(ShellError) -> PatternNode {
    var parts = [try sequence()]
    while take("|") { parts.append(try sequence()) }
    return parts.count == 1 ? parts[0] : .alternatives(parts)
  }

  private mutating func sequence() throws(ShellError) -> PatternNode {
    var parts: [PatternNode] = []
    while let next = peek, next != "|", next != ")" {
      if let node = try quantified() { parts.append(node) }
    }
    return .sequence(parts)
  }

  /// Reads a part with its quantifier; nil for flags such as `(?i)`, which match no text.
  private mutating func quantified() throws(ShellError) -> PatternNode? {
    let start = index
    guard let node = try atom() else { return nil }
    guard let (least, most) = try quantifier() else { return node }
    if let most, most < least { throw failure("the range ends before it begins", from: start) }
    if peek == "+" { throw unsupported("possessive quantifiers", from: index, 1) }
    let isGreedy = !take("?")
    let end = index
    guard try quantifier() == nil else {
      throw failure("a quantifier follows a quantifier", from: end)
    }
    return .repeated(node, least: least, most: most, isGreedy: isGreedy)
  }

  private mutating func quantifier() throws(ShellError) -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = index
    guard take("{") else { return nil }
    let least = number()
    let most = take(",") ? number() : least
    // Braces without numbers are text, not a quantifier.
    guard take("}"), least != nil || most != nil else {
      index = start
      return nil
    }
    guard max(least ?? 0, most ?? 0) <= Self.mostRepeated else {
      throw failure("a part repeats at most \(Self.mostRepeated) times", from: start)
    }
    return (least ?? 0, most)
  }

  private mutating func number() -> Int? {
    let digits = source[index...].prefix { ("0"..."9").contains($0) }
    index += digits.count
    guard !digits.isEmpty else { return nil }
    return digits.reduce(0) { min($0 * 10 + Int($1.value - 0x30), Self.mostRepeated + 1) }
  }

  private mutating func atom() throws(ShellError) -> PatternNode? {
    let start = index
    index += 1
    switch source[start] {
    case "(": return try group(from: start)
    case "[": return try characterSet(from: start)
    case ".": return .set(flags.crossesLines ? .any : Self.exceptNewline)
    case "^": return .assertion(flags.seesLines ? .lineStart : .textStart)
    case "$": return .assertion(flags.seesLines ? .lineEnd : .textEnd)
    case "\\": return try escape(from: start)
    case "*", "+", "?":
      throw failure("nothing stands before \"\(String(source[start]))\"", from: start)
    default: return character(source[start])
    }
  }

  private mutating func group(from start: Int) throws(ShellError) -> PatternNode? {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else {
      throw failure("groups are nested deeper than \(Self.deepest)", from: start)
    }
    let outer = flags
    if take("?"), try !groupKind(from: start) { return nil }
    let node = try alternatives()
    // A flag is valid only up to the end of its group, so the end of a group restores the flags of the outer group.
    flags = outer
    guard take(")") else { throw failure("missing \")\"", from: start, 1) }
    return node
  }

  /// Reads the characters after `(?`. Returns false for flags such as `(?i)`, which are valid for the rest of the outer group.
  private mutating func groupKind(from start: Int) throws(ShellError) -> Bool {
    if take(":") { return true }
    if peek == "P" { index += 1 }
    if take("<") {
      if peek == "=" || peek == "!" { throw unsupported("lookbehinds", from: start) }
      let name = source[index...].prefix { $0 == "_" || CharacterKind.alnum.contains($0) }
      index += name.count
      guard !name.isEmpty, take(">") else { throw failure("expected `(?<name>`", from: start) }
      return true
    }
    if peek == "=" || peek == "!" { throw unsupported("lookaheads", from: start) }
    if peek == ">" { throw unsupported("atomic groups", from: start) }
    var isOn = true
    while let flag = peek, flag != ")", flag != ":" {
      switch flag {
      case "-" where isOn: isOn = false
      case "i": flags.ignoresCase = isOn
      case "m": flags.seesLines = isOn
      case "s": flags.crossesLines = isOn
      default: throw failure("expected one of the flags i, m, s", from: index, 1)
      }
      index += 1
    }
    if take(")") { return false }
    guard take(":") else { throw failure("missing \")\"", from: start, 1) }
    return true
  }

  var peek: Unicode.Scalar? { index < source.count ? source[index] : nil }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    index += 1
    return true
  }

  /// - Parameter count: The number of wrong characters. If nil, the wrong characters end at the present place.
  func failure(_ message: SafeText, from start: Int? = nil, _ count: Int? = nil) -> ShellError {
    func bytes(before place: Int) -> Int { source.prefix(place).reduce(0) { $0 + UTF8.width($1) } }
    let start = min(start ?? index, source.count - 1)
    let end = max(start + (count ?? index - start), start + 1)
    return ShellError(
      .badPattern, "invalid regular expression: \(message)",
      at: word.place(of: bytes(before: start)..<bytes(before: end)),
      hint: text.contains("\\") && word.isBare
        ? "single quotes keep its backslashes: '\(text)'" : nil)
  }

  /// - Parameter constructs: A noun in the plural.
  func unsupported(_ constructs: SafeText, from start: Int, _ count: Int? = nil) -> ShellError {
    failure("\(constructs) are not supported: they need backtracking", from: start, count)
  }
}
