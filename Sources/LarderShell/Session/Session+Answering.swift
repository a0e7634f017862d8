import ShellLanguage

extension Session {
  /// What stands between the last answer and the next.
  enum Separator {
    case none
    /// Something was printed, and it ended its line.
    case ended
    /// A value was printed as it is; if anything follows, it needs the end of a line first.
    case newline
  }

  /// The form answers have now.
  var presentation: Presentation {
    Presentation(
      settings.mode, isTerminal: settings.isTerminal, endsWithNUL: settings.endsWithNUL,
      width: host.window()?.columns, hasColor: settings.hasColor, hasUnicode: settings.hasUnicode,
      clock: wallClock)
  }

  func answer(_ reply: Reply) throws { try write(presentation.bytes(of: reply)) }

  /// Says what a change did, unless that is not wanted.
  func acknowledge(_ reply: Reply) throws {
    if !settings.isQuiet { try answer(reply) }
  }

  /// The only way for bytes to leave the session.
  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try host.write(separator == .newline ? [.newline] + bytes : bytes)
    separator = .ended
  }

  /// Writes a value with nothing added, as long as it is all that is printed; in a pipe of several
  /// answers each one ends with a newline.
  func writeValue(_ bytes: [UInt8]) throws {
    guard separator == .none else { return try write(bytes + [.newline]) }
    try host.write(bytes)
    separator = .newline
  }

  /// Asks, unless every question is answered already.
  ///
  /// - Parameter isVital: Where nobody can be asked it is not done. Otherwise it is.
  func confirms(_ question: SafeText, isVital: Bool) throws -> Bool {
    if settings.answersYes { return true }
    if let ask = host.ask { return try ask(question) }
    guard isVital else { return true }
    throw ShellError(
      .needsYes, "nobody can be asked: \(question)", hint: "say --yes if that is what you want")
  }
}
