extension CommandSpec {
  static let output = CommandSpec(
    "output", .shell, .reads, "Sets the form of output, or shows which one is set.",
    parameters: [.optional("MODE", .choice(OutputMode.allCases.map(\.rawValue)))],
    examples: [
      Example("output", "the forms there are"),
      Example("output jsonl", "one object a line from now on"),
    ],
    run: setOutput)

  private static func setOutput(_ call: Invocation, in session: Session) throws -> Outcome {
    if let name = call.choice("MODE"), let mode = OutputMode(rawValue: name) {
      session.settings.mode = mode
    } else {
      let set = session.settings.mode
      try session.answer(
        Reply(
          .rows(
            [
              Column("mode", title: ""), Column("current", title: "", in: .data),
              Column("mark", title: "", in: .table),
            ],
            OutputMode.allCases.map { mode in
              [
                .text(mode.rawValue), .bool(mode == set),
                .text(mode == set ? "current" : mode.summary),
              ]
            })))
    }
    return .done
  }
}
