/// An error of the shell: message, place and hint.
package struct ShellError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    case noSuchKey = "no_such_key"
    case noSuchNamespace = "no_such_namespace"
    case noSuchField = "no_such_field"
    case noSuchMark = "no_such_mark"
    case usage
    case unknownCommand = "unknown_command"
    case unknownOption = "unknown_option"
    case badTime = "bad_time"
    case badSize = "bad_size"
    case badPattern = "bad_pattern"
    case badExpression = "bad_expression"
    case badJSON = "bad_json"
    case undefinedArgument = "undefined_arg"
    case promptOnly = "prompt_only"
    case cannotOpen = "cannot_open"
    case noSuchStore = "no_such_store"
    case foreignOwner = "foreign_owner"
    case busy
    case full
    case io
    case damaged
    /// A value is encrypted or compressed, and this program cannot undo it.
    case unreadable
    case readOnly = "read_only"
    case needsYes = "needs_yes"
    case declined
    case overLimit = "over_limit"
    case exists
    case changedMeanwhile = "changed_meanwhile"
    case interrupted

    /// The exit code of a process that ends with this error.
    package var exitCode: Int32 {
      switch self {
      case .noSuchKey, .noSuchNamespace, .noSuchField, .noSuchMark: 1
      case .usage, .unknownCommand, .unknownOption, .badTime, .badSize, .badPattern,
        .badExpression, .badJSON, .undefinedArgument, .promptOnly:
        2
      case .cannotOpen, .noSuchStore, .foreignOwner: 3
      case .busy, .full, .io, .damaged, .unreadable: 4
      case .readOnly, .needsYes, .declined, .overLimit, .exists, .changedMeanwhile: 5
      case .interrupted: 130
      }
    }
  }

  package let code: Code
  package let message: SafeText
  package let hint: SafeText?
  /// The range of the command's text that is wrong; `CommandLine.locate` turns it into a place.
  package let range: Range<Int>?
  package internal(set) var place: Place?

  package init(_ code: Code, _ message: SafeText, hint: SafeText?) {
    self.init(code, message, at: nil, hint: hint)
  }

  package init(_ code: Code, _ message: SafeText, at range: Range<Int>?, hint: SafeText?) {
    self.code = code
    self.message = message
    self.hint = hint
    self.range = range
  }

  package init(_ code: Code, _ message: SafeText, place: Place, hint: SafeText?) {
    self.init(code, message, hint: hint)
    self.place = place
  }

  /// A person answered no: the message is the whole answer, not an error.
  package static let declined = ShellError(.declined, "nothing changed", hint: nil)
}
