import Larder
import ShellLanguage

extension Command {
  static let watch = Command(
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
    ],
    run: watchChanges)

  /// The interval between two looks at the change feed.
  private static let pace = Duration.milliseconds(50)
  /// The changes that are handled before ^C and the clock are checked.
  private static let batch = 500

  private static func watchChanges(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let presentation = session.output.presentation
    guard presentation.mode != .json else {
      throw ShellError(
        .usage, "watch has no end, and json is one document", hint: "use `-o jsonl`")
    }
    let names = try names(selection, in: session)
    let test = try ChangeTest(
      selection, names: names, events: call.choices("--events").map { Set($0) },
      in: session.store, session.queries)
    let changes = session.store.changes(in: names?.count == 1 ? names!.first : nil)
      .makeAsyncIterator()
    let form = ChangeForm(
      namesNamespaces: names?.count != 1, hasValues: call.has("--values"),
      shown: call.columns("--show") ?? [])
    var writer = RowWriter(presentation, columns: form.columns)
    if session.output.presentation.isTerminal {
      let place = names.map { $0.sorted().joined(separator: ", ") } ?? "all namespaces"
      try session.host.notify("watching \(place); ^C ends")
    }
    try session.output.write(writer.begin())
    let start = session.clock.monotonic
    let end = call.duration("--for").map { start + $0 }
    let most = call.number("--count") ?? .max
    var count = 0
    var isInterrupted = false
    while count < most {
      var events: [ChangeEvent] = []
      var looked = 0
      while looked < batch, count + events.count < most, let change = changes.nextNow() {
        looked += 1
        if case .ended(let error) = change.kind { throw error }
        guard let event = ChangeEvent(change), try test.passes(event) else { continue }
        events.append(try event.completed(for: form, from: session.store, session.queries))
      }
      let clock = session.wallClock
      try session.output.write(
        presentation.mode == .table
          ? presentation.lines(events.map { form.line($0, clock) })
          : writer.write(events.map(form.cells)))
      count += events.count
      let left = end.map { $0 - session.clock.monotonic }
      isInterrupted = session.host.isInterrupted()
      if isInterrupted || left.map({ $0 <= .zero }) ?? false || count >= most { break }
      if looked < batch {
        isInterrupted = try !session.host.pause(min(left ?? pace, pace))
        if isInterrupted { break }
      }
    }
    if session.output.isTable {
      let span = Wording.span((session.clock.monotonic - start).milliseconds)
      // The terminal shows ^C at the cursor.
      let gap = isInterrupted ? " " : ""
      try session.host.notify("\(gap)\(Wording.count(count, "event", "events")) in \(span)")
    }
    return isInterrupted ? .exitCode(ShellError.Code.interrupted.exitCode) : .done
  }

  /// Nil for all, including namespaces created later.
  private static func names(
    _ selection: Selection, in session: Session
  ) throws -> Set<String>? {
    switch selection.namespaces {
    case .named: Set(try session.namespaces(selection.namespaces).map(\.name))
    case .unnamed: session.current.map { [$0] }
    case .all: nil
    }
  }

  static let browse = Command(
    "browse", .looking, .reads, "Shows namespaces, keys and values on the whole screen, live.",
    namespaces: .oneOrAll,
    examples: [
      Example("browse", "the namespace in use, or all"),
      Example("browse @articles", "a namespace; ? lists the keys, q leaves"),
    ],
    run: browseStore)

  private static func browseStore(_ call: Invocation, in session: Session) throws -> Outcome {
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
    return .done
  }
}
