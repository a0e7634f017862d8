import Larder
import ShellLanguage

extension Command {
  static let pin = Command(
    "pin", .changing, .changes, "Keeps entries from being evicted; they still expire.",
    selection: .required,
    examples: [
      Example("pin @articles 000017", "one key"),
      Example("pin @articles --tag front", "all with a tag"),
    ]
  ) { call, session in try change(call, in: session, isPinned: true) }

  static let unpin = Command(
    "unpin", .changing, .changes, "Lets entries be evicted again.",
    selection: .required,
    examples: [
      Example("unpin @articles 000017", "one key"),
      Example("unpin @*", "everything"),
    ]
  ) { call, session in try change(call, in: session, isPinned: false) }

  private static func change(
    _ call: Invocation, in session: Session, isPinned: Bool
  ) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let (verb, past) = isPinned ? ("pin", "pinned") : ("unpin", "unpinned")
    let done = try session.change(selection, in: namespaces, verb: verb, done: "\(past)") {
      batch, namespace, entry in
      isPinned
        ? try batch.pin(entry.key, in: namespace) : try batch.unpin(entry.key, in: namespace)
    }
    try session.acknowledge(
      done.reply(
        [("count", .number(done.total.entries))],
        "\(past) \(Wording.count(done.total.entries))", for: session.presentation.mode))
    return .done
  }
}

extension Command {
  static let invalidate = Command(
    "invalidate", .changing, .changes, "Removes every entry that carries a tag, at once for all.",
    namespaces: .oneOrAll, parameters: [.many("TAG", .text)],
    examples: [
      Example("invalidate front", "in all namespaces"),
      Example("invalidate @articles sport weather", "in one, with either tag"),
    ],
    run: invalidateTags)

  private static func invalidateTags(_ call: Invocation, in session: Session) throws -> Outcome {
    let tags = try call.allBytes("TAG").map { bytes in
      guard let tag = String(validating: bytes, as: UTF8.self) else {
        throw ShellError(.usage, "\(bytes) is not a tag", hint: "tags are text")
      }
      return tag
    }
    let isWhole = call.namespaces == .all || call.namespaces == .unnamed && session.current == nil
    let namespace = isWhole ? nil : try session.namespace(call.namespaces)
    var done = Acknowledgement("invalidate")
    let name = namespace?.name ?? "@*"
    done.begin(name)
    for tag in tags {
      if session.host.isInterrupted() {
        throw ShellError(
          .interrupted, "interrupted: invalidated \(done.total.words)",
          hint: "\(tag) and what follows it are as they were")
      }
      let removal =
        try namespace?.invalidate(tag: tag) ?? session.store.invalidate(tag: tag)
      done.add(Tally(removal), in: name)
    }
    try session.acknowledge(
      done.reply(
        done.counts, "invalidated \(done.total.words)", for: session.presentation.mode))
    return .done
  }
}
