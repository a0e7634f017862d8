/// A part of a regular expression.
indirect enum RegexNode {
  case scalar(Unicode.Scalar, ignoresCase: Bool)
  case set(RegexSet)
  case assertion(RegexAssertion)
  case sequence([RegexNode])
  case alternatives([RegexNode])
  /// - Parameter most: Nil without a bound.
  case repeated(RegexNode, least: Int, most: Int?, isGreedy: Bool)
}

/// A place between two characters.
struct RegexPlace {
  /// Nil at the start of the text.
  let before: Unicode.Scalar?
  /// Nil at the end of the text.
  let after: Unicode.Scalar?
  /// At most one character follows.
  let isLast: Bool
}

/// A condition on a place.
enum RegexAssertion {
  case textStart, textEnd, lineStart, lineEnd, lastLineEnd, boundary, noBoundary

  func holds(at place: RegexPlace) -> Bool {
    switch self {
    case .textStart: place.before == nil
    case .textEnd: place.after == nil
    case .lineStart: place.before == nil || place.before == "\n"
    case .lineEnd: place.after == nil || place.after == "\n"
    case .lastLineEnd: place.after == nil || place.after == "\n" && place.isLast
    case .boundary: isBoundary(place)
    case .noBoundary: !isBoundary(place)
    }
  }

  private func isBoundary(_ place: RegexPlace) -> Bool {
    let isWord = RegexSet.Kind.word.contains
    return (place.before.map(isWord) ?? false) != (place.after.map(isWord) ?? false)
  }
}

/// The characters that `.`, `\d` or `[a-z]` take.
struct RegexSet {
  enum Kind: String {
    case word, digit, space, alpha, alnum, upper, lower, punct, xdigit, cntrl, blank
    case notNewline

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
      case .notNewline:
        !(0x0A...0x0D ~= scalar.value || [0x85, 0x2028, 0x2029].contains(scalar.value))
      case .punct:
        switch properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
          .initialPunctuation, .finalPunctuation, .otherPunctuation:
          true
        default: scalar.isASCII && UInt8(ascii: scalar).isPunctuation
        }
      case .word:
        switch properties.generalCategory {
        case .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber:
          true
        default: properties.isAlphabetic
        }
      }
    }
  }

  private var ranges: [ClosedRange<Unicode.Scalar>] = []
  private var kinds: [(kind: Kind, isNegated: Bool)] = []
  var isNegated = false
  private let ignoresCase: Bool
  /// The ASCII characters that it contains, a bit each.
  private(set) var ascii: UInt128 = 0

  init(ignoresCase: Bool) { self.ignoresCase = ignoresCase }

  init(_ kind: Kind, isNegated: Bool = false) {
    ignoresCase = false
    kinds = [(kind, isNegated)]
    finish()
  }

  mutating func insert(_ range: ClosedRange<Unicode.Scalar>) { ranges.append(range) }
  mutating func insert(_ kind: Kind, isNegated: Bool) { kinds.append((kind, isNegated)) }

  /// Call this once, after the last insertion.
  mutating func finish() {
    for value in UInt8(0)..<0x80 where lists(Unicode.Scalar(value)) { ascii |= 1 << value }
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? ascii >> UInt128(scalar.value) & 1 == 1 : lists(scalar)
  }

  private func lists(_ scalar: Unicode.Scalar) -> Bool {
    let isListed =
      listsExactly(scalar)
      || ignoresCase && (listsExactly(scalar.lowercased) || listsExactly(scalar.uppercased))
    return isListed != isNegated
  }

  private func listsExactly(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar) }
      || kinds.contains { $0.kind.contains(scalar) != $0.isNegated }
  }
}
