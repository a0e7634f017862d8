import Larder
import LarderSystem
import ShellLanguage

/// The page of `report`, as HTML or Markdown: space, expiry, age, sizes, hit rate, the largest entries and the limits.
struct StoreReport {
  /// A bar: the label, the length as a share of the longest bar, and the amount in words.
  typealias Bar = (label: String, share: Double, words: String)

  private enum Part {
    case text(String)
    case bars([Bar])
    case table([String], [[String]])
  }

  private typealias Section = (title: String, parts: [Part])

  private static let largestShown = 15

  private let session: Session
  private let statistics: Statistics
  private let namespaces: [Statistics.Namespace]
  private let isWhole: Bool
  private let histograms: [(title: String, histogram: Histogram)]
  private let largest: [Store.Entry]

  init(of session: Session, only: String?) throws {
    self.session = session
    statistics = try session.store.statistics()
    isWhole = only == nil
    namespaces = statistics.namespaces.filter { only == nil || $0.info.name.isExactly(only) }
    if let only, namespaces.isEmpty { throw ShellError.removedMeanwhile(only) }
    // Bounds double up to ten years (times) or the largest possible value (sizes). `trim` removes the empty bins at the ends.
    let decade: Int64 = 315_360_000_000
    let measures: [(title: String, measure: Histogram.Measure, most: Int64)] = [
      ("Expiry distribution", .expiry, decade), ("Entry age", .age, decade),
      ("Sizes", .sizes, Int64(Rules.largestPossibleValue)),
    ]
    var histograms = measures.map { title, measure, most in
      (title: title, histogram: Histogram(measure, over: 0...most, bins: 40, isLogarithmic: true))
    }
    let now = session.clock.now.unix
    var largest = FirstOf<Store.Entry>(
      most: Self.largestShown, pause: session.host.checkInterruption
    ) { ($1.size, $0.key) < ($0.size, $1.key) }
    let all = namespaces.map { session.store.namespace($0.info.name) }
    try Scope(all: all, in: session).visitEntries(showing: "looking") { entry in
      for index in histograms.indices { histograms[index].histogram.add(entry, now: now) }
      try largest.add(entry)
    }.noteDamage(session.host)
    self.largest = try largest.sorted()
    for index in histograms.indices { histograms[index].histogram.trim() }
    self.histograms = histograms
  }

  private var name: String {
    let store = statistics.path.split(separator: "/").last.map(String.init) ?? statistics.path
    return isWhole ? store : "\(namespaces[0].info.name) in \(store)"
  }

  private var summary: String {
    let clock = session.wallClock
    let all = namespaces.map(\.info).tally
    return
      "\(all.words) of values, a file of \(Wording.size(statistics.file.size)); \(clock.fullDate(clock.now))"
  }

  func html() throws -> String {
    let head = "<h1>\(HTML.text(name))</h1>\n<p>\(HTML.text(summary))</p>"
    let sections = try sections().map { section in
      let parts = section.parts.map { html($0, of: section) }.joined(separator: "\n")
      return "<section>\n<h2>\(HTML.text(section.title))</h2>\n\(parts)\n</section>"
    }
    let foot = "<footer><p>\(HTML.text(statistics.path))</p></footer>"
    return HTML.page("larder: \(name)", [head] + sections + [foot])
  }

  private func html(_ part: Part, of section: Section) -> String {
    switch part {
    case .text(let text): "<p>\(HTML.text(text))</p>"
    case .bars(let rows): HTML.bars(section.title, rows)
    case .table(let titles, let rows): HTML.table(titles, rows)
    }
  }

  func markdown() throws -> String {
    let head = "# \(TableLayout.markdownText(name))\n\n\(TableLayout.markdownText(summary))\n"
    let sections = try sections().map { section in
      "\n## \(section.title)\n" + section.parts.map { markdown($0) }.joined()
    }
    return head + sections.joined() + "\n\(TableLayout.markdownText(statistics.path))\n"
  }

  private func markdown(_ part: Part) -> String {
    switch part {
    case .text(let text): return "\n\(TableLayout.markdownText(text))\n"
    case .bars(let rows): return markdown(.table(["", ""], rows.map { [$0.label, $0.words] }))
    case .table(let titles, let rows):
      let reply = Reply(.rows(titles.map { Column($0) }, rows.map { $0.map { .text($0) } }))
      let presentation = Presentation(.markdown, clock: session.wallClock)
      return "\n" + String(decoding: presentation.bytes(of: reply), as: UTF8.self)
    }
  }

  private func sections() throws -> [Section] {
    let clock = session.wallClock
    let limits = try LimitReport(of: isWhole ? nil : namespaces[0].info.name, in: session)
      .texts(for: session.output.presentation)
    let entries = largest.map {
      [
        $0.namespace, Quoting.brief($0.key.bytes), Wording.size($0.size),
        clock.fullDate($0.written.unix), $0.expires.map { clock.fullDate($0.unix) } ?? "never",
      ]
    }
    let rest: [Section] = [
      try hits(),
      (
        "The largest entries",
        [.table(["namespace", "key", "size", "written", "expires"], entries)]
      ),
      ("Limits", [.table(limits.titles, limits.rows)]),
    ]
    return [space] + histograms.map { histogram($0.title, $0.histogram) } + rest
  }

  private var space: Section {
    let most = max(namespaces.map(\.info.bytes).max() ?? 0, 1)
    let rows = namespaces.map(\.info).sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }.map {
      (
        label: $0.name, share: Double($0.bytes) / Double(most),
        words: "\(Wording.size($0.bytes)), \(Wording.entries($0.entries))"
      )
    }
    return ("Space by namespace", [.bars(rows)])
  }

  private func histogram(_ title: String, _ histogram: Histogram) -> Section {
    guard !histogram.isEmpty else { return (title, [.text("No entries.")]) }
    let most = max(histogram.rows.map(\.count).max() ?? 0, 1)
    let rows = histogram.rows.map {
      (label: $0.label, share: Double($0.count) / Double(most), words: Wording.count($0.count))
    }
    return (title, [.bars(rows)])
  }

  private func hits() throws -> Section {
    let rows = namespaces.map { namespace in
      let reads = namespace.reads
      let rate = reads.hitRate
      let all = Wording.count(Int(clamping: reads.hits &+ reads.staleHits &+ reads.misses))
      let stale =
        reads.staleHits > 0 ? ", \(Wording.count(Int(clamping: reads.staleHits))) stale" : ""
      let words = rate.map { "\(Wording.percent($0)) of \(all)\(stale)" }
      return (label: namespace.info.name, share: rate ?? 0, words: words ?? "no reads yet")
    }
    // The samples of the hit rate are for the whole store, so the report of a namespace has no chart.
    guard isWhole else { return ("Hit rate", [.bars(rows)]) }
    let intervals = Self.hitRates(try session.store.readHistory())
    let rates = intervals.map { $0.rate }
    guard let lowest = rates.min(), let highest = rates.max() else {
      let words =
        "No hit rate over time: maintenance of the store samples the reads once an hour, and two samples with reads between them are needed."
      return ("Hit rate", [.bars(rows), .text(words)])
    }
    let clock = session.wallClock
    let bars = intervals.map { end, rate, reads in
      (
        label: clock.fullDate(end.unix), share: rate,
        words: "\(Wording.percent(rate)) of \(Wording.count(Int(clamping: reads)))"
      )
    }
    let words = "Hit rate over time, \(Wording.percent(lowest)) to \(Wording.percent(highest))"
    return ("Hit rate", [.bars(rows), .text(words), .bars(bars)])
  }

  /// The hit rate between each two successive samples. Stale hits count as hits. Omits intervals without reads or with a reset.
  static func hitRates(_ samples: [ReadSample]) -> [(end: Timestamp, rate: Double, reads: UInt64)] {
    zip(samples, samples.dropFirst()).compactMap { before, after in
      guard after.hits >= before.hits, after.staleHits >= before.staleHits,
        after.misses >= before.misses
      else { return nil }
      let answered = (after.hits - before.hits) &+ (after.staleHits - before.staleHits)
      let reads = answered &+ (after.misses - before.misses)
      guard reads > 0 else { return nil }
      return (end: after.time, rate: Double(answered) / Double(reads), reads: reads)
    }
  }
}
