extension CommandSpec {
  static let more = CommandSpec(
    "more", aliases: ["m"], .looking, .reads, "Goes on where the last list was cut.",
    parameters: [.optional("N", .count)],
    examples: [
      Example("more", "the next page"),
      Example("more 200", "the next 200"),
    ],
    run: goOn)

  private static func goOn(_ call: Invocation, in session: Session) throws -> Outcome {
    guard let list = session.listing else {
      throw ShellError(.usage, "there is no list to go on with", hint: "keys begins one")
    }
    try session.show(list, most: call.number("N") ?? session.rows(nil))
    return .done
  }
}
