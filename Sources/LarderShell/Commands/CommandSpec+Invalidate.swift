import Larder

extension CommandSpec {
  static let invalidate = CommandSpec(
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
