import Larder

extension CommandSpec {
  static let exists = CommandSpec(
    "exists", .looking, .reads, "Says of each key whether it is there; exit code 1 if one is not.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    examples: [
      Example("exists @articles 000017", "yes or no"),
      Example("exists @articles 000017 000018", "of several"),
    ],
    run: sayWhetherThere)

  private static func sayWhetherThere(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespace = try session.namespace(call.namespaces)
    let answers = try call.allBytes("KEY").map { key in
      (key: key, isThere: try namespace.entry(for: key).map(\.hasValue) ?? false)
    }
    try session.answer(
      Reply(
        .rows(
          [
            Column("namespace", in: .data),
            Column("key", title: "", in: [.table, .data], holdsBytes: true),
            Column("exists", title: ""),
          ],
          answers.map { [.text(namespace.name), .bytes($0.key), .bool($0.isThere)] })))
    return answers.allSatisfy(\.isThere) ? .done : .told(ShellError.Code.noSuchKey.exitCode)
  }
}
