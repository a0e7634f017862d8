import Larder

extension CommandSpec {
  static let touch = CommandSpec(
    "touch", .changing, .changes, "Starts the lifetime of entries anew.",
    selection: .required,
    options: [.value("--ttl", .duration, "how long they live now; else what their rule says")],
    examples: [
      Example("touch @departures", "a whole namespace"),
      Example("touch 'Kiruna:'* --ttl 2h", "with another lifetime"),
    ],
    run: touchEntries)

  private static func touchEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let lifetime = call.duration("--ttl")
    let done = try session.change(selection, in: namespaces, verb: "touch", done: "touched") {
      batch, namespace, entry in
      try batch.touch(entry.key, in: namespace, expires: lifetime.map { .after($0) })
    }
    let count = Wording.count(done.total.entries)
    let end = lifetime.flatMap { session.clock.now.moved(by: $0.milliseconds) }
    let sentence: SafeText =
      end.map { "touched \(count), expires \(session.wallClock.echo(.at($0)))" }
      ?? "touched \(count)"
    try session.acknowledge(
      done.reply(
        [("touched", .number(done.total.entries))], sentence, for: session.presentation.mode))
    return .done
  }
}
