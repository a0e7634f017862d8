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
    case table([Column], [[Cell]])
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
    func histogram(_ measure: Histogram.Measure, upTo most: Int64) -> Histogram {
      Histogram(measure, over: 0...most, bins: 40, isLogarithmic: true)
    }
    let decade: Int64 = 315_360_000_000
    var histograms = [
      (title: "Expiry distribution", histogram: histogram(.expiry, upTo: decade)),
      (title: "Entry age", histogram: histogram(.age, upTo: decade)),
      (title: "Sizes", histogram: histogram(.sizes, upTo: Int64(Rules.largestPossibleValue))),
    ]
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
    case .table(let columns, let rows): HTML.table(columns, rows, for: session.output.presentation)
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
    case .bars(let rows):
      return markdown(.table(["", ""], rows.map { [.text($0.label), .text($0.words)] }))
    case .table(let columns, let rows):
      let table = session.output.presentation.bytes(of: Reply(.rows(columns, rows)))
      return "\n" + String(decoding: table, as: UTF8.self)
    }
  }

  private func sections() throws -> [Section] {
    let clock = session.wallClock
    let limits = try LimitReport(of: isWhole ? nil : namespaces[0].info.name, in: session).table
    let entries = largest.map { entry -> [Cell] in
      [
        .text(entry.namespace), .text(Quoting.brief(entry.key.bytes)), .size(entry.size),
        .text(clock.fullDate(entry.written.unix)),
        .text(entry.expires.map { clock.fullDate($0.unix) } ?? "never"),
      ]
    }
    let space = namespaces.map(\.info).sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }.map {
      (
        label: $0.name, amount: $0.bytes,
        words: "\(Wording.size($0.bytes)), \(Wording.entries($0.entries))"
      )
    }
    var sections: [Section] = [("Space by namespace", [bars(space)])]
    for (title, histogram) in histograms {
      let rows = histogram.rows.map {
        (label: $0.label, amount: $0.count, words: Wording.count($0.count))
      }
      sections.append((title, [rows.isEmpty ? .text("No entries.") : bars(rows)]))
    }
    sections.append(try hits())
    let columns: [Column] = ["namespace", "key", "size", "written", "expires"]
    sections.append(("The largest entries", [.table(columns, entries)]))
    sections.append(("Limits", [.table(limits.columns, limits.rows)]))
    return sections
  }

  /// Bars that compare the amounts of their rows.
  private func bars(_ rows: [(label: String, amount: Int, words: String)]) -> Part {
    let most = max(rows.map(\.amount).max() ?? 0, 1)
    return .bars(
      rows.map { (label: $0.label, share: Double($0.amount) / Double(most), words: $0.words) })
  }

  private func hits() throws -> Section {
    let rows = namespaces.map { namespace in
      let reads = namespace.reads
      let all = reads.hits &+ reads.staleHits &+ reads.misses
      let staleHits = Int(clamping: reads.staleHits)
      let stale = staleHits > 0 ? ", \(Wording.count(staleHits)) stale" : ""
      let words = reads.hitRate.map { Self.words($0, of: all) + stale }
      return (label: namespace.info.name, share: reads.hitRate ?? 0, words: words ?? "no reads yet")
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
      (label: clock.fullDate(end.unix), share: rate, words: Self.words(rate, of: reads))
    }
    let words = "Hit rate over time, \(Wording.percent(lowest)) to \(Wording.percent(highest))"
    return ("Hit rate", [.bars(rows), .text(words), .bars(bars)])
  }

  private static func words(_ rate: Double, of reads: UInt64) -> String {
    "\(Wording.percent(rate)) of \(Wording.count(Int(clamping: reads)))"
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
