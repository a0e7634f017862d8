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
        "only these, with commas between them", placeholder: "set,evict,..."),
      .flag("--values", "also the value that is there now"),
      .value("--for", .duration, "end after so long"),
      .value("--count", .count, "end after so many"),
    ],
    examples: [
      Example("watch @departures --events set,evict --for 1m", "a namespace, for a minute"),
      Example("watch 'Malm\u{F6} C:'* --values", "a pattern, with what was stored"),
      Example("watch --count 1", "wait for the next change"),
    ],
    run: watchChanges)

  /// How often it is looked whether something has happened.
  private static let pace = Duration.milliseconds(50)
  /// How many changes are looked at before ^C and the clock are.
  private static let batch = 500

  private static func watchChanges(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let presentation = session.presentation
    guard presentation.mode != .json else {
      throw ShellError(
        .usage, "json is one document, and watch has no end", hint: "jsonl is an object a line")
    }
    let names = try names(selection, in: session)
    let test = try ChangeTest(
      selection, names: names, events: call.choices("--events").map { Set($0) })
    let changes = session.store.changes(in: names?.count == 1 ? names!.first : nil)
      .makeAsyncIterator()
    let form = ChangeForm(
      namesNamespaces: names?.count != 1, hasValues: call.has("--values"))
    var writer = RowWriter(presentation, columns: form.columns)
    try session.write(writer.begin())
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
        guard let event = ChangeEvent(change), test.passes(event) else { continue }
        events.append(try event.completed(withValue: form.hasValues, from: session.store))
      }
      let clock = session.wallClock
      try session.write(
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
    if session.isForPerson {
      let span = Wording.span((session.clock.monotonic - start).milliseconds)
      // Behind the ^C that the terminal shows.
      let gap = isInterrupted ? " " : ""
      try session.host.notify("\(gap)\(Wording.count(count, "event", "events")) in \(span)")
    }
    return isInterrupted ? .told(ShellError.Code.interrupted.exitCode) : .done
  }

  /// Nil is all, also those that are made meanwhile.
  private static func names(
    _ selection: Selection, in session: Session
  ) throws -> Set<String>? {
    switch selection.namespaces {
    case .named: Set(try session.namespaces(selection.namespaces).map(\.name))
    case .unnamed: session.current.map { [$0] }
    case .all: nil
    }
  }
}
