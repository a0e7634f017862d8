import Larder

extension CommandSpec {
  static let expire = CommandSpec(
    "expire", .changing, .changes, "Sets when entries expire; the time is the last word.",
    selection: .required, trailing: [.one("TIME", .deadline)],
    examples: [
      Example("expire 'Kiruna:'* midnight", "at the next midnight"),
      Example("expire @articles 000017 1h30m", "from now"),
      Example("expire @articles --larger 1MB now", "the large ones at once"),
    ],
    run: setExpiry)

  private static func setExpiry(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let deadline = call.deadline("TIME")!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let clock = session.wallClock
    if case .at(let time) = deadline, time < clock.now {
      let (found, _) = try session.preview(selection, in: namespaces, verb: "expire")
      let question: SafeText =
        "That is \(clock.distance(to: time)). Expire \(found.total.words) at once?"
      guard try session.confirms(question, isVital: false) else { return .done }
    }
    let done = try session.change(selection, in: namespaces, verb: "expire", done: "expire now") {
      batch, namespace, entry in
      try batch.touch(entry.key, in: namespace, expires: Expiration(deadline))
    }
    let entries = done.total.entries
    try session.acknowledge(
      done.reply(
        [("count", .number(entries)), ("expires", .expiry(deadline.time))],
        deadline.time == nil
          ? .neverExpire(entries)
          : "\(Wording.entries(entries)) \(entries == 1 ? "expires" : "expire") \(clock.echo(deadline))",
        for: session.presentation.mode))
    return .done
  }
}
