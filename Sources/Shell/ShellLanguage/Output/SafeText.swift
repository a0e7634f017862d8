/// Text that is safe to print: interpolated values cannot carry an escape sequence.
///
/// Bytes appear quoted, as they can be typed back; strings appear as they are, with controls
/// escaped. This is the only way to make an error, a sentence or a note, so that nothing from a
/// store reaches a terminal raw.
package struct SafeText: Sendable, Hashable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  package private(set) var description: String

  package init(stringLiteral value: String) { description = Quoting.printable(Array(value.utf8)) }
  package init(stringInterpolation: StringInterpolation) {
    description = stringInterpolation.text
  }

  package init(_ text: String) { self.init(stringLiteral: text) }

  /// As it can be typed back; a long one is cut, and its length said.
  package init(quoting bytes: [UInt8]) { description = Quoting.brief(bytes) }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {}
    package mutating func appendLiteral(_ literal: String) {
      text.append(Quoting.printable(Array(literal.utf8)))
    }
    package mutating func appendInterpolation(_ bytes: [UInt8]) {
      text.append(Quoting.brief(bytes))
    }
    package mutating func appendInterpolation(_ string: String) {
      text.append(Quoting.printable(Array(string.utf8)))
    }
    package mutating func appendInterpolation(_ number: Int) { text.append(String(number)) }
    package mutating func appendInterpolation(_ safe: SafeText) { text.append(safe.description) }
  }
}

extension SafeText {
  package static func + (left: SafeText, right: SafeText) -> SafeText { "\(left)\(right)" }
}

extension [SafeText] {
  package func joined(separator: String = ", ") -> SafeText {
    SafeText(map(\.description).joined(separator: separator))
  }
}
