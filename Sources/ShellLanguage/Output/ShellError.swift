/// What went wrong, where, and what to do: the three parts of every error.
package struct ShellError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    case usage
    case unknownCommand = "unknown_command"
    case badTime = "bad_time"
    case badSize = "bad_size"
    case badPattern = "bad_pattern"
    case noSuchKey = "no_such_key"
    case noSuchNamespace = "no_such_namespace"
    case cannotOpen = "cannot_open"
    case busy
    case full
    case io
    case damaged
    case readOnly = "read_only"
    case needsYes = "needs_yes"
    case overLimit = "over_limit"
    case exists
    case interrupted

    /// What a script's process ends with.
    package var exitCode: Int32 {
      switch self {
      case .noSuchKey, .noSuchNamespace: 1
      case .usage, .unknownCommand, .badTime, .badSize, .badPattern: 2
      case .cannotOpen: 3
      case .busy, .full, .io, .damaged: 4
      case .readOnly, .needsYes, .overLimit, .exists: 5
      case .interrupted: 130
      }
    }
  }

  package let code: Code
  package let message: SafeText
  package let hint: SafeText?
  /// The stretch of the command's text it is about; `CommandLine.locate` turns it into a place.
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
}
