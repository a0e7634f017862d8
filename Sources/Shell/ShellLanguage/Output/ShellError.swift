package struct ShellError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    case noSuchKey = "no_such_key"
    case noSuchNamespace = "no_such_namespace"
    case noSuchField = "no_such_field"
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
    case busy, full, io, damaged
    /// A value is encrypted or compressed, and this program cannot decode the value.
    case unreadable
    case readOnly = "read_only"
    case needsYes = "needs_yes"
    case declined
    case overLimit = "over_limit"
    case exists
    case changedMeanwhile = "changed_meanwhile"
    case interrupted
  }

  package let code: Code
  package let message: SafeText
  package internal(set) var hint: SafeText?
  /// The hint for a command from the arguments of the program; nil if `hint` also fits such a command. The system's shell has
  /// removed the quotes of the arguments, so a hint about quotes would not help.
  var hintForArguments: SafeText?
  /// The range of the wrong part in the text of the command. `CommandLine.locate` turns the range into a place.
  package private(set) var range: Range<Int>?
  package internal(set) var place: Place?
  /// The form of output that the command asks for; nil for the form of the session.
  package internal(set) var form: OutputMode?

  package init(
    _ code: Code, _ message: SafeText, at range: Range<Int>? = nil, place: Place? = nil,
    hint: SafeText?, hintForArguments: SafeText? = nil
  ) {
    self.code = code
    self.message = message
    self.hint = hint
    self.hintForArguments = hintForArguments
    self.range = range
    self.place = place
  }

  package func pointing(at range: Range<Int>?) -> ShellError {
    var error = self
    error.range = range
    return error
  }

  /// The error if a person answers no to a question. The person sees only this message, without the word `error`.
  package static let declined = ShellError(.declined, "nothing changed", hint: nil)

  /// The error for a person who has just typed the line at a prompt: carets below the line, the message and the hint.
  package func prompted(promptWidth: Int, columns: Int? = nil) -> String {
    caret(promptWidth: promptWidth, columns: columns)
      + DisplayWidth.wrap(scripted, columns: columns, indent: 2)
  }

  package var scripted: String {
    if code == .declined { return "\(message)\n" }
    return "error: \(location)\(message)\n" + (hint.map { "hint: \($0)\n" } ?? "")
  }

  /// The error as a JSON object on one line, for programs that read standard error.
  package var json: String {
    let error: [JSON.Field] = [
      .init("code", .string(code.rawValue)),
      .init("message", .string(message.description)),
      .init("hint", hint.map { .string($0.description) } ?? .null),
      .init("source", (place?.source.name).map { .string($0) } ?? .null),
      .init("line", place.map { .number($0.line) } ?? .null),
      .init("column", place.map { .number($0.column) } ?? .null),
    ]
    return JSON.object([.init("error", .object(error))]).text + "\n"
  }

  private var location: String {
    guard let place, let name = place.source.name else { return "" }
    return "\(SafeText(name)):\(place.line):\(place.column): "
  }

  private func caret(promptWidth: Int, columns: Int?) -> String {
    // Only a prompt has the typed line above the carets. For a file, the message names the file and the number of the line.
    guard let place, place.source == .prompt, range != nil, code != .declined else { return "" }
    let text = String(decoding: place.text, as: UTF8.self)
    let before = text.prefix(place.column - 1)
    let width = max(DisplayWidth.of(text.dropFirst(place.column - 1).prefix(place.width)), 1)
    let margin = DisplayWidth.of(before)
    // The carets fit only below the last line of the command, if this line did not wrap. Otherwise the line is shown again.
    let isAbove =
      place.isLastLine && columns.map { promptWidth + DisplayWidth.of(text) <= $0 } ?? true
    if isAbove { return Self.carets(width, behind: promptWidth + margin) }
    let line = Quoting.printable(place.text)
    guard let columns, DisplayWidth.of(line) > columns else {
      return line + "\n" + Self.carets(width, behind: margin)
    }
    return Self.scrolled(line, to: margin, width: width, columns: columns)
  }

  private static func carets(_ width: Int, behind margin: Int) -> String {
    String(repeating: " ", count: margin) + String(repeating: "^", count: width) + "\n"
  }

  /// The part of a long line around the error, with carets below the error.
  private static func scrolled(_ line: String, to margin: Int, width: Int, columns: Int) -> String {
    let mark = "\u{2026}"
    let room = max(columns - 2, 8)
    let skipped = margin + width <= room ? 0 : max(margin - room / 2, 0)
    let head = DisplayWidth.prefix(of: line, columns: skipped)
    let rest = String(line.unicodeScalars.dropFirst(head.unicodeScalars.count))
    let lead = skipped > 0 ? mark : ""
    let shown = DisplayWidth.fit(rest, to: room, mark: mark)
    let offset = margin - DisplayWidth.of(head) + DisplayWidth.of(lead)
    return lead + shown + "\n" + carets(min(width, max(columns - offset, 1)), behind: offset)
  }
}
