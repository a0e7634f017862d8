struct GlobParser {
  /// `acting` is the character of an unquoted ASCII byte, which may be special; nil for any other character.
  private typealias Unit = (character: Character32, acting: Unicode.Scalar?, offset: Int)

  static let run = PatternNode.repeated(.set(.any), least: 0, most: nil, isGreedy: true)
  private static let longest = 1000
  private static let deepest = 16

  private let ignoresCase: Bool
  private let isOption: Bool
  private var units: [Unit] = []
  private var index = 0

  init(_ word: Word, ignoresCase: Bool, isOption: Bool) {
    (self.ignoresCase, self.isOption) = (ignoresCase, isOption)
    var index = 0
    while index < word.bytes.count, units.count <= Self.longest {
      let (character, end) = word.bytes.character(at: index)
      let start = index
      let isBare = word.pieces.contains { $0.isBare && $0.range.contains(start) }
      var acting: Unicode.Scalar?
      if case .scalar(let scalar) = character, isBare, scalar.isASCII { acting = scalar }
      units.append((character, acting, word.offset(of: start)))
      index = end
    }
  }

  mutating func parse() throws(ShellError) -> [PatternNode] {
    guard units.count <= Self.longest else {
      throw wrong(0, "a pattern has at most \(Self.longest) characters", "shorten it with `*`")
    }
    return try sequence(depth: 0)
  }

  /// Reads parts up to the end. Within braces, reads up to the comma or brace that ends the alternative.
  private mutating func sequence(depth: Int) throws(ShellError) -> [PatternNode] {
    var parts: [PatternNode] = []
    while index < units.count {
      let start = index
      index += 1
      switch units[start].acting {
      case "," where depth > 0, "}" where depth > 0:
        index = start
        return parts
      case "*":
        guard index == units.count || units[index].acting != "*" else {
          throw wrong(start, "there is no **: * already crosses / and :", "one * is enough", 2)
        }
        parts.append(Self.run)
      case "?": parts.append(.set(.any))
      case "[": parts.append(.set(try set(from: start)))
      case "{": parts.append(try alternatives(from: start, depth: depth + 1))
      default: parts.append(.character(units[start].character, ignoresCase: ignoresCase))
      }
    }
    return parts
  }

  private mutating func alternatives(from open: Int, depth: Int) throws(ShellError) -> PatternNode {
    guard depth <= Self.deepest else {
      throw wrong(open, "braces are nested deeper than \(Self.deepest)", "shorten it with `*`")
    }
    var parts: [PatternNode] = []
    index = open
    repeat {
      index += 1
      parts.append(.sequence(try sequence(depth: depth)))
      guard index < units.count else { throw incomplete(open, "{ has no }") }
    } while units[index].acting == ","
    index += 1
    guard parts.count > 1 else {
      throw incomplete(open, "{} takes alternatives: {a,b}", index - open)
    }
    return .alternatives(parts)
  }

  private mutating func set(from open: Int) throws(ShellError) -> CharacterSet32 {
    var items: [CharacterSet32.Item] = []
    let isNegated = index < units.count && units[index].acting == "!"
    if isNegated { index += 1 }
    let first = index
    while true {
      guard index < units.count else { throw incomplete(open, "[ has no ]") }
      // As in other languages, a bracket at the first place is an element of the set and does not end the set.
      if units[index].acting == "]", index > first { break }
      items.append(.range(try range()))
    }
    index += 1
    return CharacterSet32(items, isNegated: isNegated, ignoresCase: ignoresCase)
  }

  private mutating func range() throws(ShellError) -> ClosedRange<Unicode.Scalar> {
    let start = index
    let low = try listed(at: index)
    index += 1
    guard index + 1 < units.count, units[index].acting == "-", units[index + 1].acting != "]"
    else { return low...low }
    let high = try listed(at: index + 1)
    index += 2
    guard low <= high else {
      throw wrong(start, "the range ends before it begins", "write the smaller one first", 3)
    }
    return low...high
  }

  private func listed(at index: Int) throws(ShellError) -> Unicode.Scalar {
    guard case .scalar(let scalar) = units[index].character else {
      throw wrong(index, "a byte that is not UTF-8 cannot be listed", "? matches it")
    }
    return scalar
  }

  /// The error for brackets that form no part of a pattern, so the brackets may belong to a key.
  private func incomplete(_ open: Int, _ message: SafeText, _ count: Int = 1) -> ShellError {
    if isOption, let bracket = units[open].acting.map({ String($0) }) {
      return wrong(open, message, "write `[\(bracket)]` for a literal \(bracket)", count)
    }
    var error = wrong(open, message, "quote it if it belongs to the key", count)
    error.hintForArguments = "a key that contains it goes behind --   (help globs)"
    return error
  }

  private func wrong(
    _ index: Int, _ message: SafeText, _ hint: SafeText, _ count: Int = 1
  ) -> ShellError {
    let start = units[index].offset
    let last = units[min(index + count, units.count) - 1]
    return ShellError(
      .badPattern, message, at: start..<max(last.offset, start) + 1, hint: "\(hint)   (help globs)")
  }
}
