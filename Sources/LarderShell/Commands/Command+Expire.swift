import Larder
import ShellLanguage

extension Command {
  static let expire = Command(
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

extension Command {
  static let touch = Command(
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
    let end = lifetime.flatMap { session.now.moved(by: $0.milliseconds) }
    let sentence: SafeText =
      end.map { "touched \(count), expires \(session.wallClock.echo(.at($0)))" }
      ?? "touched \(count)"
    try session.acknowledge(
      done.reply(
        [("touched", .number(done.total.entries))], sentence, for: session.presentation.mode))
    return .done
  }
}

extension Command {
  static let persist = Command(
    "persist", .changing, .changes, "Makes entries never expire.",
    selection: .required,
    examples: [
      Example("persist \"Kiruna:07\"", "one key"),
      Example("persist @articles --tag front", "all with a tag"),
    ],
    run: keepEntries)

  private static func keepEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let done = try session.change(
      selection, in: namespaces, verb: "persist", done: "never expire now"
    ) { batch, namespace, entry in
      try batch.touch(entry.key, in: namespace, expires: .never)
    }
    try session.acknowledge(
      done.reply(
        [("count", .number(done.total.entries))], .neverExpire(done.total.entries),
        for: session.presentation.mode))
    return .done
  }
}
