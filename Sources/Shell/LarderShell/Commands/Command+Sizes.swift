import Larder
import ShellLanguage

extension Command {
  static let sizes = Command(
    "sizes", aliases: ["du"], .looking, .reads, "Shows what uses space, the largest first.",
    selection: .optional,
    options: [
      .value(
        "--by", .choice(SizeReport.Grouping.allCases.map(\.rawValue)),
        "group by (default: namespace, or prefix within one)"),
      .value("--depth", .number(1...Int.max), "parts of a prefix; default: 1"),
      .value("--separator", .data, "the end of a part; default: /", placeholder: "TEXT"),
      .value("--top", .limit, "at most so many rows; default: 20"),
    ],
    plain: [
      "": "namespace entries bytes", "--by prefix": "[namespace] prefix entries bytes",
      "--by key": "[namespace] key bytes",
    ],
    examples: [
      Example("sizes", "the namespaces, at once"),
      Example("sizes @articles --by key --top 3", "the largest values"),
      Example("sizes @departures --by prefix --separator :", "by what keys begin with"),
    ],
    run: showSizes)

  private static func showSizes(_ call: Invocation, in session: Session) throws -> Outcome {
    let isWhole = call.namespaces == .unnamed && session.current == nil
    let scope = try Scope(of: call, in: session, wholeByDefault: true)
    let grouping =
      call.choice("--by").flatMap(SizeReport.Grouping.init)
      ?? (isWhole || scope.namesNamespaces ? .namespace : .prefix)
    let depth = call.number("--depth") ?? 1
    let separator = call.bytes("--separator") ?? Array("/".utf8)
    guard !separator.isEmpty else {
      throw ShellError(
        .usage, "the separator is empty", at: call.range("--separator"),
        hint: "use `--separator /`")
    }
    let top: Int? =
      switch call.limit("--top") {
      case .unbounded: nil
      case .count(let count): count
      case nil: 20
      }
    var report = SizeReport(
      by: grouping, depth: depth, separator: separator, top: top,
      namesNamespaces: scope.namesNamespaces)
    // Compressed entries have to be read for their share.
    if grouping == .namespace, try scope.isCounted() {
      for namespace in scope.namespaces { report.add(try session.info(of: namespace.name)) }
    } else {
      try report.add(scope)
    }
    let limit = isWhole ? try session.store.limits().effective.bytes : nil
    try session.output.answer(report.reply(for: session.output.presentation, limit: limit))
    return .done
  }
}

extension Scope {
  /// Whether the counters of its namespaces are the answer: it has all of their entries, and none is compressed, as far as
  /// the first hundred of each tell.
  fileprivate func isCounted() throws -> Bool {
    guard selection.patterns.isEmpty, selection.filters.isEmpty, selection.input == nil,
      selection.limit == nil, selection.after == nil
    else { return false }
    return try namespaces.allSatisfy {
      try !$0.page(limit: 100).items.contains { $0.transforms.contains(.zstd) }
    }
  }
}

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
    let now = session.clock.now.unix
    let end = call.moment("--within") ?? now.moved(by: 3_600_000) ?? .last
    var scope = try Scope(of: call, in: session, wholeByDefault: true)
    scope.selection.filters.append(.expiring(by: end))
    scope.selection.sort = scope.selection.sort ?? .expiry
    let form = EntryForm.expiry(namesNamespaces: scope.namesNamespaces)
    let mode = session.output.presentation.mode
    guard mode.isForPerson, mode != .markdown else {
      try scope.list(as: form)
      return .done
    }
    let list = try scope.repeatableList(as: form)
    let bounds = bounds(within: end.since(now))
    var counts = [Int](repeating: 0, count: bounds.count)
    // How much expires does not depend on how much of the list is wanted.
    var all = list
    try all.handOut { entries in
      for time in entries.compactMap({ $0.expires?.unix.since(now) }) {
        if let bin = bounds.firstIndex(where: { $0.contains(time) }) { counts[bin] += 1 }
      }
    }
    guard counts.contains(where: { $0 > 0 }) else {
      try session.output.writeLines(["nothing expires before \(session.wallClock.date(end))"])
      return .done
    }
    if mode == .table {
      let chart = BarChart(
        zip(bounds, counts).map { ("< \(Wording.span($0.upperBound))", $1) })
      try session.output.write(chart.bytes(for: session.output.presentation))
    }
    try list.show(most: scope.shownRows, in: session)
    return .done
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
    let scope = try Scope(of: call, in: session, wholeByDefault: true)
    let fitting = min(max((session.host.window()?.rows ?? 18) - 3, 5), 15)
    let bins = call.number("--bins") ?? (session.output.isTable ? fitting : 10)
    let now = session.clock.now.unix
    let most = scope.selection.most
    // Twice over the entries, so that no list of them need be kept.
    var range: ClosedRange<Int64>?
    var histogram = try ProgressLine.show("looking", of: 2 * scope.total(), in: session) {
      progress in
      var list = try scope.repeatableList(as: .expiry(namesNamespaces: false), most: most)
      var again = list
      try list.handOut(atMost: most) { entries in
        for value in entries.compactMap({ measure.value(of: $0, now: now) }) {
          range =
            range.map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
        }
        try progress.advance(by: entries.count)
      }
      var histogram = Histogram(measure, over: range, bins: bins, isLogarithmic: call.has("--log"))
      try again.handOut(atMost: most) { entries in
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
    try session.output.write(histogram.bytes(for: session.output.presentation))
    return .done
  }
}
