import Larder
import ShellLanguage

extension Command {
  static let expiring = Command(
    "expiring", aliases: ["soon"], .looking, .reads,
    "Shows how many entries expire when, and which expire first.",
    selection: .optional,
    options: [.value("--within", .ahead, "how far ahead to look; default: 1h")],
    plain: ["": "key expires expires_in"],
    examples: [
      Example("expiring", "within the hour"),
      Example("soon @departures --within 15m", "sooner"),
    ],
    run: showExpiring)

  private static func showExpiring(_ call: Invocation, in session: Session) throws -> Outcome {
    let now = session.now
    let end = call.moment("--within") ?? now.moved(by: 3_600_000) ?? .last
    var (selection, namespaces) = try session.scope(of: call, wholeByDefault: true)
    selection.filters.append(.expiring(by: end))
    if session.isForPerson {
      var ends: [Int64] = []
      // How much expires does not depend on how much of the list is wanted.
      var whole = selection
      whole.limit = nil
      _ = try session.forEachEntries(of: whole, in: namespaces) { entries in
        ends += entries.compactMap { $0.expires?.unix.since(now) }
      }
      guard !ends.isEmpty else {
        try session.write(session.presentation.lines(["nothing expires \(whenIn(end, session))"]))
        return .done
      }
      let chart = BarChart(
        bounds(within: end.since(now)).map { bound in
          ("< \(Wording.span(bound.upperBound))", ends.count { bound.contains($0) })
        })
      try session.write(chart.bytes(for: session.presentation))
    }
    selection.sort = selection.sort ?? .expiry
    try session.list(
      selection, in: namespaces, as: .expiry(namesNamespaces: namespaces.count > 1))
    return .done
  }

  private static func whenIn(_ end: UnixTime, _ session: Session) -> SafeText {
    "before \(session.wallClock.date(end))"
  }

  /// The stretches that a row stands for: moments that people think in, up to the end.
  private static func bounds(within end: Int64) -> [Range<Int64>] {
    let minute: Int64 = 60_000
    let steps: [Int64] = [1, 5, 15, 60, 180, 720, 1440, 2880, 10_080, 43_200, 129_600]
    let inner = steps.map { $0 * minute }.filter { $0 < end }.suffix(5)
    var start = Int64.min
    return (inner + [max(end + 1, 1)]).map { bound in
      defer { start = bound }
      return start..<bound
    }
  }
}

extension Command {
  static let plot = Command(
    "plot", .looking, .reads, "Draws the distribution of sizes, expiry times or ages.",
    parameters: [.one("WHAT", .choice(Histogram.Measure.allCases.map(\.rawValue)))],
    selection: .optional,
    options: [
      .value("--bins", .number(1...1000), "rows of the chart; default: what fits"),
      .flag("--log", "a logarithmic scale"),
    ],
    plain: ["": "from to entries bytes"],
    examples: [
      Example("plot sizes @thumbs", "how large values are"),
      Example("plot expiry @* --log", "when entries expire"),
      Example("plot age @articles --bins 5", "how long ago they were written"),
    ],
    run: drawPlot)

  private static func drawPlot(_ call: Invocation, in session: Session) throws -> Outcome {
    let measure = call.choice("WHAT").flatMap(Histogram.Measure.init)!
    let (selection, namespaces) = try session.scope(of: call, wholeByDefault: true)
    let fitting = min(max((session.host.window()?.rows ?? 18) - 3, 5), 15)
    let bins = call.number("--bins") ?? (session.isForPerson ? fitting : 10)
    let now = session.now
    let total = try namespaces.map { try $0.count() }.reduce(0, +)
    // Twice over the entries, so that no list of them need be kept.
    var range: ClosedRange<Int64>?
    var histogram = try session.withProgress("looking", of: 2 * total) { progress in
      _ = try session.forEachEntries(of: selection, in: namespaces) { entries in
        for value in entries.compactMap({ measure.value(of: $0, now: now) }) {
          range =
            range.map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
        }
        try progress.advance(by: entries.count)
      }
      var histogram = Histogram(measure, over: range, bins: bins, isLogarithmic: call.has("--log"))
      _ = try session.forEachEntries(of: selection, in: namespaces) { entries in
        for entry in entries { histogram.add(entry, now: now) }
        try progress.advance(by: entries.count)
      }
      return histogram
    }
    guard !histogram.isEmpty else {
      throw ShellError(
        .noSuchKey, "nothing to draw: no entries matched",
        hint: "`count` takes the same words")
    }
    histogram.trim()
    try session.write(histogram.bytes(for: session.presentation))
    return .done
  }
}
