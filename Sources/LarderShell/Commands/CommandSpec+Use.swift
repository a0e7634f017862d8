import Larder

extension CommandSpec {
  static let use = CommandSpec(
    "use", .shell, .reads, "Sets the namespace that commands mean when they name none.",
    parameters: [.optional("NS", .namespace)],
    examples: [
      Example("use departures", "keys, get and the others now mean departures"),
      Example("use", "none again"),
    ],
    run: useNamespace)

  private static func useNamespace(_ call: Invocation, in session: Session) throws -> Outcome {
    if let name = call.namespaceNames("NS").first {
      let existing = try session.store.namespaces().map(\.name)
      session.current = try NamespaceChoice.named([name]).resolved(
        current: nil, existing: existing)[0]
    } else {
      session.current = nil
    }
    try session.answer(
      Reply(
        .object(
          [Column("namespace", in: .data)], [session.current.map { .text($0) } ?? .null])))
    return .done
  }
}
