import Larder
import ShellLanguage

extension Command {
  static let expire = CommandSpec(
    "expire", .changing, .changes, "Sets when entries expire; the time is the last word.",
    selection: .required, trailing: [.one("TIME|+D", .expiry)],
    options: [
      .flag("--at-least", "never shorten"), .flag("--at-most", "never extend"),
    ] + BulkOptions.all,
    rules: [.atMostOne(["--at-least", "--at-most"])], plain: BulkOptions.plain,
    examples: [
      "expire 'Kiruna:'* midnight": "at the next midnight",
      "expire @articles 000017 1h30m": "from now",
      "expire @articles 000017 +2h": "two hours after the present expiry",
      "expire @* --tag news 1d --at-most": "within a day, or earlier",
    ]
  ).running { call, session in
    let change = call.expiryChange("TIME|+D")!
    let clock = session.wallClock
    var note: SafeText?
    let phrase: String
    switch change {
    case .to(.at(let time)):
      phrase = "expire at \(clock.clock(time)):"
      if time <= clock.now { note = "The time is \(clock.distance(to: time)). " }
    case .to: phrase = "never expire:"
    case .later(let duration): phrase = "expire \(Wording.span(duration.milliseconds)) later:"
    }
    return try setExpiries("expire", phrase, past: "changed", call, session, note) { before in
      let after: Deadline
      switch change {
      case .to(let deadline): after = deadline
      case .later(let duration):
        guard let before = before.time else { return nil }
        guard let time = before.moved(by: duration.milliseconds) else {
          throw ShellError(
            .badTime, "an expiry would be too far away",
            hint: "`persist` makes entries never expire")
        }
        after = .at(time)
      }
      if call.has("--at-least"), after < before { return before }
      if call.has("--at-most"), after > before { return before }
      return after
    }
  }

  static let touch = CommandSpec(
    "touch", .changing, .changes, "Restarts the lifetime of entries.", selection: .required,
    options: [
      .value("--ttl", .duration, "the new lifetime; default: that of their rule, if there is one")
    ] + BulkOptions.all, plain: BulkOptions.plain,
    examples: [
      "touch @departures --yes": "a whole namespace, by its rule",
      "touch 'Kiruna:'* --ttl 2h": "with another lifetime",
    ]
  ).running { call, session in
    var change = try EntryChange("touch", past: "touched", call, in: session)
    try checkLastKey(change)
    let lifetime = call.duration("--ttl")
    if lifetime == nil { try checkRules(of: change) }
    let isOver = lifetime == .zero
    let note: SafeText? = isOver ? "The lifetime is over at once. " : nil
    guard try change.prepare(note: note, where: { $0.state != .expired }) else { return }
    var report = ExpiryReport()
    try change.apply(losesValues: isOver) { batch, namespace, entry -> ExpiryReport.Effect? in
      guard try batch.touch(entry.key, in: namespace, expires: lifetime.map { .after($0) }),
        let after = try batch.entry(for: entry.key, in: namespace)
      else { return nil }
      return .changed(from: entry.expires?.unix, to: after.expires?.unix)
    } record: {
      report.add($0)
    }
    try change.answer(report.sentence(session.wallClock), report.fields)
  }

  static let persist = CommandSpec(
    "persist", .changing, .changes, "Makes entries never expire.",
    selection: .required, options: BulkOptions.all, plain: BulkOptions.plain,
    examples: [
      "persist \"Kiruna:07\"": "one key", "persist @articles --tag front": "all with a tag",
    ],
  ).running { call, session in
    try setExpiries("persist", past: "persisted", call, session) { _ in .never }
  }

  /// - Parameters:
  ///   - note: A sentence if the new expiry has passed, so that entries are lost.
  ///   - target: Makes the new expiry from the present expiry. If nil, an entry that never expires does not change.
  private static func setExpiries(
    _ verb: String, _ phrase: String? = nil, past: String, _ call: Invocation, _ session: Session,
    _ note: SafeText? = nil, target: (Deadline) throws -> Deadline?
  ) throws {
    var change = try EntryChange(verb, phrase: phrase, past: past, call, in: session)
    if verb == "expire" { try checkLastKey(change) }
    // An expired entry does not change, so the effect is nil. `--expired` can select such an entry.
    func effect(on entry: Store.Entry) throws -> ExpiryReport.Effect? {
      guard entry.state != .expired else { return nil }
      let before = Deadline(entry.expires?.unix)
      guard let after = try target(before) else { return .permanent }
      return after == before ? .unchanged : .changed(from: before.time, to: after.time)
    }
    var report = ExpiryReport()
    guard
      try change.prepare(
        note: note, fields: { _ in report.fields },
        where: { try effect(on: $0).map { report.add($0) } ?? false })
    else { return }
    // The question may have counted the effects, so the report begins again.
    report = ExpiryReport()
    try change.apply(losesValues: note != nil) { batch, namespace, entry -> ExpiryReport.Effect? in
      let effect = try effect(on: entry)
      if case .changed(_, let after) = effect {
        let expires = Expiration(Deadline(after))
        guard try batch.touch(entry.key, in: namespace, expires: expires) else { return nil }
      }
      return effect
    } record: {
      report.add($0)
    }
    try change.answer(report.sentence(session.wallClock), report.fields)
  }

  /// Throws if the rules of a namespace have no lifetime: `touch` would make the entries permanent.
  private static func checkRules(of change: EntryChange) throws {
    for namespace in change.scope.namespaces where try namespace.info()?.rules.expires == .never {
      throw ShellError(
        .usage, "touch requires a lifetime: namespace \(namespace.name) has no rule for one",
        hint: "give one with `--ttl D`; `persist` makes entries never expire")
    }
  }

  /// Throws before any change if the last of several keys does not exist and looks like a time, as in `touch K 2h`.
  private static func checkLastKey(_ change: EntryChange) throws {
    let patterns = change.scope.selection.patterns
    guard patterns.count > 1, case .key(let key)? = patterns.last,
      try change.scope.namespaces.allSatisfy({ try $0.entry(for: key) == nil })
    else { return }
    let word = Word(key, isBare: true, at: 0..<0)
    do throws(ShellError) { _ = try word.timeAhead(change.session.wallClock) } catch { return }
    guard change.summary.verb == "touch" else {
      throw ShellError(
        .usage, "the time is one word, and there is no entry \(key)",
        hint: "quote it: `expire KEY '1h 30m'`")
    }
    let line = change.call.line
    let words = line.arguments.map(\.range)
    let place = words.last { line.text(at: $0).elementsEqual(key) } ?? words[words.count - 1]
    let before = String(
      decoding: line.text(at: words[0].lowerBound..<place.lowerBound), as: UTF8.self)
    throw ShellError(
      .usage, "unexpected time \(key)",
      hint: "`\(before)--ttl \(String(decoding: key, as: UTF8.self))`")
  }
}
