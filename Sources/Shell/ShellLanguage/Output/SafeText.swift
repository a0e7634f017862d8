/// Text that is safe to print: interpolated bytes are quoted, and control characters of interpolated strings are escaped.
/// Errors, sentences and notes have this type, so that a terminal never acts on bytes of a store.
package struct SafeText: Sendable, Hashable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  package private(set) var description: String

  package init(stringLiteral value: String) { description = Quoting.printable(Array(value.utf8)) }
  package init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

  package init(_ text: String) { self.init(stringLiteral: text) }

  /// The quoted bytes, which a person can type back. For many bytes, only the first bytes and the number of bytes are shown.
  package init(quoting bytes: [UInt8]) { description = Quoting.brief(bytes) }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {}
    package mutating func appendLiteral(_ literal: String) { appendInterpolation(literal) }
    package mutating func appendInterpolation(_ bytes: [UInt8]) { text += Quoting.brief(bytes) }
    package mutating func appendInterpolation(_ string: String) {
      text += Quoting.printable(Array(string.utf8))
    }
    package mutating func appendInterpolation(_ number: Int) { text += String(number) }
    package mutating func appendInterpolation(_ safe: SafeText) { text += safe.description }
  }

  package static func + (left: SafeText, right: SafeText) -> SafeText { "\(left)\(right)" }
}

extension [SafeText] {
  package func joined(separator: String = ", ") -> SafeText {
    SafeText(map(\.description).joined(separator: separator))
  }
}
