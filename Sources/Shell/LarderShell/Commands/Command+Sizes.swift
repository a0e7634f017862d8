import Larder
import ShellLanguage

extension Command {
  static let sizes = CommandSpec(
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
      "sizes": "the namespaces, at once", "sizes @articles --by key --top 3": "the largest values",
      "sizes @departures --by prefix --separator :": "by what keys begin with",
    ]
  ).running { call, session in
    guard !call.has("--limit") else {
      throw ShellError(
        .usage, "--limit would leave entries out of the sums", at: call.range("--limit"),
        hint: "pass `--top N` for at most so many rows")
    }
    let isWhole = call.namespaces == .unnamed && session.current == nil
    let scope = try Scope(of: call, in: session, wholeByDefault: true)
    let grouping =
      call.choice("--by").flatMap(SizeReport.Grouping.init)
      ?? (isWhole || scope.namesNamespaces ? .namespace : .prefix)
    let separator = call.bytes("--separator") ?? Array("/".utf8)
    guard !separator.isEmpty else {
      throw ShellError(
        .usage, "the separator is empty", at: call.range("--separator"),
        hint: "use `--separator /`")
    }
    var report = try SizeReport(
      of: scope, by: grouping, depth: call.number("--depth") ?? 1, separator: separator,
      top: call.number("--top") ?? 20)
    let limit = isWhole ? try session.store.limits().effective.bytes : nil
    try session.output.answer(report.reply(limit: limit))
  }

  static let expiring = CommandSpec(
    "expiring", aliases: ["soon"], .looking, .reads,
    "Shows how many entries expire when, and which expire first.", selection: .optional,
    options: [.value("--within", .ahead, "how far ahead to look; default: 1h")],
    plain: ["": "key expires expires_in"],
    examples: ["expiring": "within the hour", "soon @departures --within 15m": "sooner"]
  ).running { call, session in
    let now = session.clock.now.unix
    let end = call.moment("--within") ?? now.moved(by: 3_600_000) ?? .last
    var scope = try Scope(of: call, in: session, wholeByDefault: true)
    scope.selection.filters.append(.fact(.expires, .lessOrEqual, .time(end)))
    scope.selection.sort = scope.selection.sort ?? .expiry
    if session.output.isTable {
      // All entries are visited for the chart, and then again for the list, so the keys of standard input are kept.
      try scope.keepInput()
      var all = scope.unlimited
      all.selection.sort = nil
      let bounds = bounds(within: end.since(now))
      var counts = [Int](repeating: 0, count: bounds.count)
      try all.visitEntries { entry in
        guard let time = entry.expires?.unix.since(now) else { return }
        if let bin = bounds.firstIndex(where: { $0.contains(time) }) { counts[bin] += 1 }
      }.noteAbsent(session.host)
      guard counts.contains(where: { $0 > 0 }) else {
        try session.output.writeLines(["nothing expires before \(session.wallClock.date(end))"])
        return
      }
      let rows = zip(bounds, counts).map { (label: "< \(Wording.span($0.upperBound))", count: $1) }
      try session.output.answer(.chart(rows))
    }
    try scope.list(as: .expiry(namesNamespaces: scope.namesNamespaces))
  }

  /// The ranges of time, one for each row, up to `end`. The bounds are round durations, such as an hour.
  private static func bounds(within end: Int64) -> [Range<Int64>] {
    let minute: Int64 = 60_000
    let steps: [Int64] = [1, 5, 15, 60, 180, 720, 1440, 2880, 10_080, 43_200, 129_600]
    let inner = steps.map { $0 * minute }.filter { $0 < end }.suffix(5)
    let ends = Array(inner) + [max(end + 1, 1)]
    return zip([Int64.min] + ends, ends).map { $0..<$1 }
  }

  static let plot = CommandSpec(
    "plot", .looking, .reads, "Draws the distribution of sizes, expiry times or ages.",
    parameters: [.optional("WHAT", .choice(Histogram.Measure.words))], selection: .optional,
    options: [
      .value("--bins", .number(1...1000), "rows of the chart; default: what fits"),
      .flag("--log", "a logarithmic scale"),
    ],
    plain: ["": "from to entries bytes"],
    examples: [
      "plot @thumbs": "how large values are", "plot expiry @* --log": "when entries expire",
      "plot age @articles --bins 5": "how long ago they were written",
    ]
  ).running { call, session in
    let measure = call.choice("WHAT").flatMap(Histogram.Measure.init(word:)) ?? .sizes
    var scope = try Scope(of: call, in: session, wholeByDefault: true)
    let fitting = min(max((session.host.window()?.rows ?? 18) - 3, 5), 15)
    let bins = call.number("--bins") ?? (session.output.isTable ? fitting : 10)
    let now = session.clock.now.unix
    try scope.keepInput()
    // The entries are visited twice, so that no list of entries must be in memory.
    var range: ClosedRange<Int64>?
    try scope.visitEntries(showing: "looking") { entry in
      if let value = measure.value(of: entry, now: now) { range.widen(to: value) }
    }.note(session.host)
    var histogram = Histogram(measure, over: range, bins: bins, isLogarithmic: call.has("--log"))
    try scope.visitEntries(showing: "drawing") { histogram.add($0, now: now) }
    guard !histogram.rows.isEmpty else {
      throw ShellError(
        .noSuchKey, "nothing to draw: no entries matched", hint: "`count` takes the same words")
    }
    try session.output.answer(histogram.reply)
  }
}
