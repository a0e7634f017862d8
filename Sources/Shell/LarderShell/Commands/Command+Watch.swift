import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let watch = CommandSpec(
    "watch", aliases: ["monitor"], .looking, .reads,
    "Shows changes as they are committed, by this process and others.",
    selection: .optional,
    options: [
      .value(
        "--events", .choices(ChangeEvent.Kind.allCases.map(\.rawValue)),
        "only these, separated by commas", placeholder: "set,evicted,..."),
      .flag("--values", "also the present value"),
      showOption,
      .value("--for", .duration, "end after this time"),
      .value("--count", .count, "end after so many events"),
    ],
    plain: [
      "": "time event namespace key size", "--values": "time event namespace key size value",
    ],
    examples: [
      Example("watch @departures --events set,evicted --for 1m", "a namespace, for a minute"),
      Example("watch 'Malm\u{F6} C:'* --values", "a pattern, with the values"),
      Example("watch --count 1", "wait for the next change"),
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
        names.map { $0.map(\.string).sorted().joined(separator: ", ") }
        ?? "all namespaces"
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
      Example("browse", "the namespace in use, or all"),
      Example("browse @articles", "a namespace; ? lists the keys, q leaves"),
    ]
  ).running { call, session in
    guard [.prompt, .command].contains(call.line.source), session.output.presentation.isTerminal,
      let open = session.host.openScreen
    else {
      throw ShellError(
        .promptOnly, "browse works at a terminal only, and not with TERM=dumb",
        hint: "`keys @*` lists entries")
    }
    let isWhole = session.isWhole(call.namespaces)
    let names = isWhole ? [] : try session.namespaces(call.namespaces).map(\.name)
    let screen = try open()
    let result = Result { try BrowseLoop(names.first, in: session, on: screen).run() }
    try screen.close()
    try result.get()
  }
}

private struct Watch {
  /// The time between two reads of the change feed. The feed holds at least a thousand changes. Other processes usually commit
  /// fewer changes in this time, so changes are rarely lost.
  private static let pace = Duration.milliseconds(5)
  /// The most changes that are handled before the next check for ^C and the time limit.
  private static let batch = 500

  private let session: Session
  private let test: ChangeTest
  private let form: ChangeForm
  private let changes: Changes.Iterator
  private let most: Int
  private(set) var count = 0

  init(_ call: Invocation, names: Set<ExactString>?, in session: Session) throws {
    self.session = session
    test = try ChangeTest(
      call.selection!, names: names, events: call.choices("--events").map { Set($0) },
      in: session.store, session.queries)
    changes = session.store.changes(in: names?.count == 1 ? names!.first?.string : nil)
      .makeAsyncIterator()
    form = ChangeForm(
      namesNamespaces: names?.count != 1, hasValues: call.has("--values"),
      shown: call.columns("--show") ?? [])
    most = call.number("--count") ?? .max
  }

  /// Shows changes until the time `end`, or until enough changes were shown. Returns true if ^C stopped the watch.
  mutating func run(until end: Duration?) throws -> Bool {
    try session.output.rows(form.columns, areEndless: true) { write in
      while count < most {
        let (events, looked) = try nextEvents()
        count += events.count
        if session.output.isTable {
          let clock = session.wallClock
          try session.output.writeLines(events.map { form.line($0, clock) })
        } else {
          try write(events.map(form.cells))
        }
        let left = end.map { $0 - session.clock.monotonic }
        if session.host.isInterrupted() { return true }
        if left.map({ $0 <= .zero }) ?? false || count >= most { return false }
        if looked < Self.batch, try !session.host.pause(min(left ?? Self.pace, Self.pace)) {
          return true
        }
      }
      return false
    }
  }

  private func nextEvents() throws -> (events: [ChangeEvent], looked: Int) {
    var events: [ChangeEvent] = []
    var looked = 0
    while looked < Self.batch, count + events.count < most, let change = changes.nextNow() {
      looked += 1
      if case .ended(let error) = change.kind { throw error }
      guard let event = ChangeEvent(change), try test.passes(event) else { continue }
      events.append(try event.completed(for: form, from: session.store, session.queries))
    }
    return (events, looked)
  }
}
