extension CommandSpec {
  static let option = CommandSpec(
    "option", .shell, .reads, "Shows how the shell behaves, or changes it.",
    parameters: [
      .optional("NAME", .choice(ShellOption.allCases.map(\.rawValue))), .optional("VALUE", .text),
    ],
    examples: [
      Example("option", "all of them"),
      Example("option timing on", "for this session; in the rc file for all"),
      Example("option limit 200", "rows of a list"),
    ],
    run: showOrSetOption)

  private static func showOrSetOption(_ call: Invocation, in session: Session) throws -> Outcome {
    let named = call.choice("NAME").flatMap(ShellOption.init)
    if let named, let value = call.bytes("VALUE") {
      try named.set(String(decoding: value, as: UTF8.self).lowercased(), in: &session.settings)
      return .done
    }
    let columns = [
      Column("option", title: ""), Column("value", title: ""),
      Column("about", title: "", in: .table),
    ]
    try session.answer(
      Reply(
        .rows(
          columns,
          (named.map { [$0] } ?? ShellOption.allCases).map { option in
            [
              .text(option.rawValue), .text(option.value(in: session.settings)),
              .text(option.summary),
            ]
          })))
    return .done
  }
}
