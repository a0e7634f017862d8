import Larder

extension CommandSpec {
  static let clear = CommandSpec(
    "clear", .changing, .changes, "Removes every entry of a namespace, or of all.",
    namespaces: .required,
    options: [.flag("--yes", "do not ask")],
    examples: [
      Example("clear @thumbs", "asks first"),
      Example("clear @* --yes", "everything, in a script"),
    ],
    run: clearNamespaces)

  private static func clearNamespaces(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespaces = try session.namespaces(call.namespaces)
    let names = Set(namespaces.map(\.name))
    let facts = try session.store.namespaces().filter { names.contains($0.name) }
    let entries = facts.reduce(0) { $0 + $1.entries }
    let bytes = facts.reduce(0) { $0 + $1.bytes }
    let whole = call.namespaces == .all ? "every namespace" : namespaces[0].name
    let question: SafeText =
      "Remove all \(Wording.entries(entries)) of \(whole) (\(Wording.size(bytes)))?"
    guard try call.has("--yes") || session.confirms(question, isVital: true) else { return .done }
    let removals = try session.store.write { batch in
      var removals: [RemovalResult] = []
      for namespace in namespaces { removals.append(try batch.clear(namespace.name)) }
      return removals
    }
    var done = Acknowledgement("clear")
    for (namespace, removal) in zip(namespaces, removals) {
      done.add(Tally(removal), in: namespace.name)
    }
    try session.acknowledge(
      done.reply(
        done.counts, "cleared \(whole): \(done.total.words)", for: session.presentation.mode))
    return .done
  }
}
