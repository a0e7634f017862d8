import Larder

extension CommandSpec {
  static let rename = CommandSpec(
    "rename", .store, .changes, "Gives a namespace another name, for every process at once.",
    parameters: [.one("@OLD", .namespace), .one("@NEW", .namespace)],
    examples: [
      Example("rename @articles @news", "entries, rules and counts stay"),
      Example("rename @thumbs @pictures", "the new name must be free"),
    ],
    run: renameNamespace)

  private static func renameNamespace(_ call: Invocation, in session: Session) throws -> Outcome {
    let old = call.namespaceNames("@OLD")[0]
    let new = call.namespaceNames("@NEW")[0].text
    let existing = try session.store.namespaces().map(\.name)
    guard existing.contains(old.text) else {
      throw NamespaceChoice.absent(old, existing: existing)
    }
    try session.store.rename(old.text, to: new)
    if session.current == old.text { session.current = new }
    // A list that `more` goes on with would look for the old name.
    session.listing = nil
    try session.acknowledge(
      session.presentation.mode == .plain
        ? Reply(
          .rows(
            ["verb", "old", "new"].map { Column($0) },
            [[.text("rename"), .text(old.text), .text(new)]]))
        : Reply(
          .object(["old", "new"].map { Column($0) }, [.text(old.text), .text(new)]),
          sentences: ["\(old.text) is \(new) now"]))
    return .done
  }
}
