extension CommandSpec {
  static let help = CommandSpec(
    "help", aliases: ["?"], .shell, .reads, "Explains a command or a topic.",
    parameters: [.optional("COMMAND|TOPIC", .subject)],
    examples: [
      Example("help", "the commands"),
      Example("help evict", "one of them"),
      Example("help times", "how times are written"),
    ],
    run: explain)

  private static func explain(_ call: Invocation, in session: Session) throws -> Outcome {
    let help = Help(.standard)
    let text =
      if let subject = call.bytes("COMMAND|TOPIC") {
        try help.text(about: subject)
      } else {
        help.overview
      }
    try session.answer(Reply(.text(text)))
    return .done
  }
}
