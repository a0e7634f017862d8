extension CommandSpec {
  static let quit = CommandSpec(
    "quit", aliases: ["exit", "q"], .shell, .reads, "Leaves the shell.",
    parameters: [.optional("CODE", .count)],
    examples: [
      Example("quit", "done"),
      Example("quit 3", "with an exit code"),
    ],
    run: leave)

  private static func leave(_ call: Invocation, in session: Session) throws -> Outcome {
    let code = call.number("CODE") ?? 0
    guard let status = UInt8(exactly: code) else {
      throw ShellError(.usage, "\(code) is no exit code", hint: "say 0 to 255")
    }
    return .quit(Int32(status))
  }
}
