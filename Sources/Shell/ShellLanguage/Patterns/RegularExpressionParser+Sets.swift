extension RegularExpressionParser {
  private static let scalars: [Unicode.Scalar: Unicode.Scalar] = [
    "n": "\n", "r": "\r", "t": "\t", "f": "\u{C}", "v": "\u{B}", "e": "\u{1B}", "a": "\u{7}",
    "0": "\0",
  ]
  /// The classes of `\d` and other letters. A capital letter means all characters outside the class. `\n` is not a class.
  private static let kinds: [Unicode.Scalar: CharacterKind] = [
    "d": .digit, "w": .word, "s": .space, "h": .blank, "n": .newline,
  ]
  private static let assertions: [Unicode.Scalar: PatternAssertion] = [
    "b": .boundary, "B": .noBoundary, "A": .textStart, "z": .textEnd, "Z": .lastLineEnd,
  ]

  mutating func escape(from start: Int) throws(ShellError) -> PatternNode {
    guard let letter = peek else {
      throw failure("a character is missing after \"\\\"", from: start)
    }
    index += 1
    if let scalar = Self.scalars[letter] { return character(scalar) }
    if let assertion = Self.assertions[letter] { return .assertion(assertion) }
    if let kind = Self.kinds[letter.lowercased] {
      return .set(CharacterSet32([.kind(kind, isNegated: letter.properties.isUppercase)]))
    }
    switch letter {
    case "x": return character(try hexadecimal(2, from: start))
    case "u": return character(try hexadecimal(4, from: start))
    case "1"..."9", "k": throw unsupported("references to groups", from: start)
    default:
      guard !CharacterKind.alnum.contains(letter) else {
        throw failure("unknown escape \"\\\(String(letter))\"", from: index - 1)
      }
      return character(letter)
    }
  }

  private mutating func hexadecimal(
    _ count: Int, from start: Int
  ) throws(ShellError) -> Unicode.Scalar {
    let isBraced = take("{")
    let digits = source[index...].prefix(isBraced ? 8 : count)
      .prefix { $0.properties.isASCIIHexDigit }
    index += digits.count
    let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
    guard isBraced ? take("}") : digits.count == count,
      let scalar = value.flatMap(Unicode.Scalar.init)
    else { throw failure("expected the code of a character, such as \\x{e9}", from: start) }
    return scalar
  }

  /// Reads a set: `[a-z_]`, `[^\d]`, `[[:alpha:]]`. A bracket at the first place is an element of the set.
  mutating func characterSet(from start: Int) throws(ShellError) -> PatternNode {
    var items: [CharacterSet32.Item] = []
    let isNegated = take("^")
    let first = index
    while index == first || peek != "]" {
      guard peek != nil else { throw failure("missing \"]\"", from: start, 1) }
      if let kind = try namedKind() {
        items.append(kind)
        continue
      }
      let place = index
      switch try listed() {
      case .set(let set): items += set.items
      case .character(.scalar(let low), _):
        guard peek == "-", index + 1 < source.count, source[index + 1] != "]" else {
          items.append(.range(low...low))
          continue
        }
        index += 1
        guard case .character(.scalar(let high), _) = try listed() else {
          throw failure("expected a character after \"-\"", from: place)
        }
        guard low <= high else { throw failure("the range ends before it begins", from: place) }
        items.append(.range(low...high))
      default: throw failure("an assertion is no character", from: place)
      }
    }
    index += 1
    return .set(CharacterSet32(items, isNegated: isNegated, ignoresCase: flags.ignoresCase))
  }

  private mutating func listed() throws(ShellError) -> PatternNode {
    guard let next = peek else { throw failure("missing \"]\"") }
    index += 1
    return next == "\\" ? try escape(from: index - 1) : character(next)
  }

  func character(_ scalar: Unicode.Scalar) -> PatternNode {
    .character(.scalar(scalar), ignoresCase: flags.ignoresCase)
  }

  /// Reads a class: `[:alpha:]`, `[:^digit:]`.
  private mutating func namedKind() throws(ShellError) -> CharacterSet32.Item? {
    let start = index
    guard take("["), take(":") else {
      index = start
      return nil
    }
    let isNegated = take("^")
    let letters = source[index...].prefix { ("a"..."z").contains($0) }
    index += letters.count
    guard let kind = CharacterKind(rawValue: String(String.UnicodeScalarView(letters))),
      take(":"), take("]")
    else { throw failure("expected a name, such as [:alpha:]", from: start) }
    return .kind(kind, isNegated: isNegated)
  }
}
