extension CommandSpec {
  static let echo = CommandSpec(
    "echo", .shell, .reads, "Prints its words.",
    parameters: [.any("TEXT", .text)],
    examples: [
      Example("echo \"departures follow\"", "a line between outputs"),
      Example("echo", "an empty line"),
    ],
    run: echoWords)

  private static func echoWords(_ call: Invocation, in session: Session) throws -> Outcome {
    let words = Array(call.allBytes("TEXT").joined(separator: [.space]))
    // In a pipe words are as they were typed; a terminal must not be spoken to in any form of output.
    try session.write(
      (session.isForPerson || session.settings.isTerminal
        ? Array(Quoting.printable(words).utf8) : words) + [.newline])
    return .done
  }
}
