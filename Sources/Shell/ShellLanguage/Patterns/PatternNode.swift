/// A part of a glob or of a regular expression. Both parsers make trees of such parts.
indirect enum PatternNode: Sendable, Hashable {
  case character(Character32, ignoresCase: Bool)
  case set(CharacterSet32)
  case assertion(PatternAssertion)
  case sequence([PatternNode])
  case alternatives([PatternNode])
  /// - Parameter most: The greatest number of repetitions; nil for no limit.
  case repeated(PatternNode, least: Int, most: Int?, isGreedy: Bool)

  /// The bytes of a node that is only text with an exact case, at least one byte. Nil for any other node.
  var literal: [UInt8]? {
    switch self {
    case .character(.scalar(let scalar), ignoresCase: false): return Array(String(scalar).utf8)
    case .character(.byte(let byte), ignoresCase: false): return [byte]
    case .sequence(let parts):
      let literals = parts.compactMap(\.literal)
      return literals.count == parts.count && !parts.isEmpty ? Array(literals.joined()) : nil
    default: return nil
    }
  }
}

/// The characters before and after a place; nil at the start and the end of the text.
typealias PatternPlace = (before: Character32?, after: Character32?, isLast: Bool)

enum PatternAssertion {
  case textStart, textEnd, lineStart, lineEnd, lastLineEnd, boundary, noBoundary

  private static let newline = Character32.scalar("\n")

  func holds(at place: PatternPlace) -> Bool {
    switch self {
    case .textStart: place.before == nil
    case .textEnd: place.after == nil
    case .lineStart: place.before == nil || place.before == Self.newline
    case .lineEnd: place.after == nil || place.after == Self.newline
    case .lastLineEnd: place.after == nil || place.after == Self.newline && place.isLast
    case .boundary: isWord(place.before) != isWord(place.after)
    case .noBoundary: isWord(place.before) == isWord(place.after)
    }
  }

  private func isWord(_ character: Character32?) -> Bool {
    if case .scalar(let scalar) = character { CharacterKind.word.contains(scalar) } else { false }
  }
}

/// A set of characters, such as `.`, `\d` or `[a-z]`, of which one character must match.
struct CharacterSet32: Sendable, Hashable {
  enum Item: Sendable, Hashable {
    case range(ClosedRange<Unicode.Scalar>)
    case kind(CharacterKind, isNegated: Bool)
  }

  static let any = CharacterSet32([], isNegated: true)

  let items: [Item]
  private let isNegated: Bool
  private let ignoresCase: Bool
  private(set) var ascii: UInt128 = 0

  init(_ items: [Item], isNegated: Bool = false, ignoresCase: Bool = false) {
    self.items = items
    self.isNegated = isNegated
    self.ignoresCase = ignoresCase
    for value in UInt8(0)..<0x80 where lists(Unicode.Scalar(value)) { ascii |= 1 << value }
  }

  func contains(_ character: Character32) -> Bool {
    switch character {
    case .scalar(let scalar):
      scalar.isASCII ? ascii >> UInt128(scalar.value) & 1 == 1 : lists(scalar)
    // A byte that is not UTF-8 belongs to no class and no range, so only a negated item can contain it.
    case .byte:
      isNegated != items.contains { if case .kind(_, isNegated: true) = $0 { true } else { false } }
    }
  }

  private func lists(_ scalar: Unicode.Scalar) -> Bool {
    let isListed =
      listsExactly(scalar)
      || ignoresCase && (listsExactly(scalar.lowercased) || listsExactly(scalar.uppercased))
    return isListed != isNegated
  }

  private func listsExactly(_ scalar: Unicode.Scalar) -> Bool {
    items.contains { item in
      switch item {
      case .range(let range): range.contains(scalar)
      case .kind(let kind, let isNegated): kind.contains(scalar) != isNegated
      }
    }
  }
}

enum CharacterKind: String {
  case word, digit, space, alpha, alnum, upper, lower, punct, xdigit, cntrl, blank, newline

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return switch self {
    case .digit: properties.numericType == .decimal
    case .space: properties.isWhitespace
    case .alpha: properties.isAlphabetic
    case .alnum: properties.isAlphabetic || properties.numericType == .decimal
    case .upper: properties.isUppercase
    case .lower: properties.isLowercase
    case .xdigit: properties.isASCIIHexDigit
    case .cntrl: properties.generalCategory == .control
    case .blank: scalar == "\t" || properties.generalCategory == .spaceSeparator
    case .newline: 0x0A...0x0D ~= scalar.value || [0x85, 0x2028, 0x2029].contains(scalar.value)
    case .punct:
      Character(scalar).isPunctuation || scalar.isASCII && UInt8(ascii: scalar).isPunctuation
    case .word:
      switch properties.generalCategory {
      case .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber:
        true
      default: properties.isAlphabetic
      }
    }
  }
}
