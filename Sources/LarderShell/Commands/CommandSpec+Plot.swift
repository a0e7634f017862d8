import Larder

extension CommandSpec {
  static let plot = CommandSpec(
    "plot", .looking, .reads, "Draws how sizes, ends or ages of entries are spread.",
    parameters: [.one("WHAT", .choice(Histogram.Measure.allCases.map(\.rawValue)))],
    selection: .optional,
    options: [
      .value("--bins", .count, "how many rows; else what fits"),
      .flag("--log", "each row reaches further than the one before"),
    ],
    examples: [
      Example("plot sizes @thumbs", "how large values are"),
      Example("plot expiry @* --log", "when entries end"),
      Example("plot age @articles --bins 5", "how long ago they were written"),
    ],
    run: drawPlot)

  private static func drawPlot(_ call: Invocation, in session: Session) throws -> Outcome {
    let measure = call.choice("WHAT").flatMap(Histogram.Measure.init)!
    let selection = call.selection!
    let namespaces = try session.namespacesOrAll(selection)
    let fitting = min(max((session.host.window()?.rows ?? 18) - 3, 5), 15)
    let bins = call.number("--bins") ?? (session.isForPerson ? fitting : 10)
    guard (1...1000).contains(bins) else {
      throw ShellError(.usage, "\(bins) rows cannot be drawn", hint: "say --bins 1 to 1000")
    }
    let now = session.clock.now
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
        .noSuchKey, "there is nothing to draw: no entry is in the selection",
        hint: "count it with the same words")
    }
    histogram.trim()
    try session.write(histogram.bytes(for: session.presentation))
    return .done
  }
}
