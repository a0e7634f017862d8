import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let watch = CommandSpec(
    "watch", aliases: ["monitor"], .looking, .reads,
    "Shows changes as they are committed, by this process and others.", selection: .optional,
    options: [
      .value(
        "--events", .choices(ChangeEvent.Kind.allCases.map(\.rawValue)),
        "only these, separated by commas", placeholder: "set,evicted,..."),
      .flag("--values", "also the present value"), showOption,
      .value("--for", .duration, "end after this time"),
      .value("--count", .count, "end after so many events"),
    ],
    plain: [
      "": "time event namespace key size", "--values": "time event namespace key size value",
    ],
    examples: [
      "watch @departures --events set,evicted --for 1m": "a namespace, for a minute",
      "watch 'Malm\u{F6} C:'* --values": "a pattern, with the values",
      "watch --count 1": "wait for the next change",
    ]
  ).running { call, session -> Outcome in
    guard session.output.presentation.mode != .json || call.has("--for") || call.has("--count")
    else {
      throw ShellError(
        .usage, "watch has no end, and json is one document",
        hint: "use `-o jsonl`, or end it by --for or --count")
    }
    // The namespaces to watch. Nil means all namespaces, including those that are created during the watch.
    let names: Set<ExactString>? =
      switch call.selection!.namespaces {
      // A named namespace may be watched before it exists, so its existence is not checked.
      case .named(let named): Set(named.map { ExactString($0.text) })
      case .unnamed: session.current.map { [ExactString($0)] }
      case .all: nil
      }
    var watch = try Watch(call, names: names, in: session)
    if session.output.presentation.isTerminal {
      let place =
        names.map { $0.map(\.string).sorted().joined(separator: ", ") } ?? "all namespaces"
      try session.host.notify("watching \(place); ^C ends")
    }
    let start = session.clock.monotonic
    let isInterrupted = try watch.run(until: call.duration("--for").map { start + $0 })
    if session.output.isTable {
      let span = Wording.span((session.clock.monotonic - start).milliseconds)
      // The terminal shows ^C at the cursor, so a space separates ^C from the text.
      let gap = isInterrupted ? " " : ""
      try session.host.notify("\(gap)\(Wording.count(watch.count, "event", "events")) in \(span)")
    }
    return isInterrupted ? .exitCode(ShellError.Code.interrupted.exitCode) : .done
  }

  static let browse = CommandSpec(
    "browse", .looking, .reads, "Shows namespaces, keys and values on the whole screen, live.",
    namespaces: .oneOrAll,
    examples: [
      "browse": "the namespace in use, or all",
      "browse @articles": "a namespace; ? lists the keys, q leaves",
    ]
  ).running { call, session in
    guard [.prompt, .command].contains(call.line.source), session.output.presentation.isTerminal,
      let open = session.host.openScreen
    else {
      throw ShellError(
        .promptOnly, "browse works at a terminal only, and not with TERM=dumb",
        hint: "`keys @*` lists entries")
    }
    let name = session.isWhole(call.namespaces) ? nil : try session.namespace(call.namespaces).name
    let screen = try open()
    let result = Result { try BrowseLoop(name, in: session, on: screen).run() }
    try screen.close()
    try result.get()
  }
}
