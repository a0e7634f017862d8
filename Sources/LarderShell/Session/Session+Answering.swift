import ShellLanguage

extension Session {
  /// The separator between the last answer and the next.
  enum Separator {
    case none
    /// The last answer ended its line.
    case ended
    /// The last answer was a bare value: the next one begins with a newline.
    case newline
  }

  /// The present form of answers.
  var presentation: Presentation {
    let isTerminal = settings.isTerminal && sink == nil
    return Presentation(
      isVertical ? .vertical : settings.mode, isTerminal: isTerminal,
      endsWithNUL: settings.endsWithNUL, width: host.window()?.columns,
      hasColor: settings.hasColor && isTerminal, hasUnicode: settings.hasUnicode,
      clock: wallClock)
  }

  func answer(_ reply: Reply) throws { try write(presentation.bytes(of: reply)) }

  /// Acknowledges a change, unless `--quiet` is set.
  func acknowledge(_ reply: Reply) throws {
    if !settings.isQuiet { try answer(reply) }
  }

  /// All output of the session goes through here.
  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try output(separator == .newline ? [.newline] + bytes : bytes)
    separator = .ended
  }

  private func output(_ bytes: [UInt8]) throws {
    if let sink { try sink.write(bytes) } else { try host.write(bytes) }
  }

  /// Writes a value with nothing added, as long as it is all that is printed; in a pipe of several
  /// answers each one ends with a newline.
  func writeValue(_ pieces: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws {
    guard separator == .none else {
      try pieces(write)
      return try write([.newline])
    }
    try pieces { bytes in
      try output(bytes)
      separator = .newline
    }
    separator = .newline
  }
}
