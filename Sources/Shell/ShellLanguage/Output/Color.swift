/// The meanings that colors show. Only basic colors are used, because a person can set the basic colors of the terminal.
package enum Color: String, Sendable, Hashable {
  case command = "1"
  case wrong = "31"
  case error = "4;31"
  case namespace = "36"
  case quoted = "32"
  case pattern = "33"
  case option = "34"
  case number = "35"
  case dim = "2"

  package static let field = Color.option
  package static let string = Color.quoted
  package static let word = Color.pattern

  package var on: String { "\u{1B}[\(rawValue)m" }
  package static let off = "\u{1B}[0m"
}
