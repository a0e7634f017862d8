import Larder
import LarderSystem
import ShellLanguage

/// The page of `report`: space, expiry, age, sizes, hit rate, the largest entries and the limits.
struct HTMLReport {
  private static let largestShown = 15

  private let session: Session
  private let statistics: Statistics
  private let namespaces: [Statistics.Namespace]
  private let isWhole: Bool
  private var ends: Histogram
  private var ages: Histogram
  private var sizes: Histogram
  private var largest: [Store.Entry] = []

  /// - Parameter only: The namespace; nil for the whole store.
  init(of session: Session, only: String?) throws {
    self.session = session
    statistics = try session.store.statistics()
    isWhole = only == nil
    namespaces = statistics.namespaces.filter { only == nil || $0.info.name.isExactly(only) }
    if let only, namespaces.isEmpty { throw ShellError.removedMeanwhile(only) }
    // Round bounds that double, up to ten years and the largest possible value; empty bins at the ends
    // are dropped.
    let decade: Int64 = 315_360_000_000
    ends = Histogram(.expiry, over: 0...decade, bins: 40, isLogarithmic: true)
    ages = Histogram(.age, over: 0...decade, bins: 40, isLogarithmic: true)
    sizes = Histogram(
      .sizes, over: 0...Int64(Rules.largestPossibleValue), bins: 40, isLogarithmic: true)
    let now = session.clock.now.unix
    let total = namespaces.reduce(0) { $0 + $1.info.entries }
    try ProgressLine.show("looking", of: total, in: session) { progress in
      let all = namespaces.map { session.store.namespace($0.info.name) }
      try Scope(all: all, in: session).forEachEntries { entries in
        for entry in entries {
          ends.add(entry, now: now)
          ages.add(entry, now: now)
          sizes.add(entry, now: now)
        }
        keepLargest(entries)
        try progress.advance(by: entries.count)
      }
    }
    ends.trim()
    ages.trim()
    sizes.trim()
  }

  private mutating func keepLargest(_ entries: [Store.Entry]) {
    largest += entries
    largest.sort { ($1.size, $0.key) < ($0.size, $1.key) }
    largest.removeLast(max(largest.count - Self.largestShown, 0))
  }

  func page() throws -> String {
    let clock = session.wallClock
    let entries = namespaces.reduce(0) { $0 + $1.info.entries }
    let bytes = namespaces.reduce(0) { $0 + $1.info.bytes }
    let store = statistics.path.split(separator: "/").last.map(String.init) ?? statistics.path
    let name = isWhole ? store : "\(namespaces[0].info.name) in \(store)"
    let head =
      "<h1>\(HTML.text(name))</h1>\n<p>\(HTML.text("\(Wording.entries(entries)), \(Wording.size(bytes)) of values, a file of \(Wording.size(statistics.file.size)); \(clock.fullDate(clock.now))"))</p>"
    return HTML.page(
      "larder: \(name)",
      [
        head, space, histogram("Expiry distribution", ends), histogram("Entry age", ages),
        histogram("Sizes", sizes), try hits(clock), top(clock), try limits(),
        "<footer><p>\(HTML.text(statistics.path))</p></footer>",
      ])
  }

  private var space: String {
    let most = max(namespaces.map(\.info.bytes).max() ?? 0, 1)
    let rows = namespaces.map(\.info).sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }.map {
      (
        label: $0.name, share: Double($0.bytes) / Double(most),
        words: "\(Wording.size($0.bytes)), \(Wording.entries($0.entries))"
      )
    }
    return HTML.section("Space by namespace", HTML.bars("Space by namespace", rows))
  }

  private func histogram(_ title: String, _ histogram: Histogram) -> String {
    guard !histogram.isEmpty else { return HTML.section(title, "<p>No entries.</p>") }
    let rows = histogram.rows
    let most = max(rows.map(\.count).max() ?? 0, 1)
    return HTML.section(
      title,
      HTML.bars(
        title,
        rows.map {
          (label: $0.label, share: Double($0.count) / Double(most), words: Wording.count($0.count))
        }))
  }

  private func hits(_ clock: WallClock) throws -> String {
    let rows = namespaces.map { namespace in
      let reads = namespace.reads
      let rate = reads.hitRate
      let all = Wording.count(Int(clamping: reads.hits &+ reads.staleHits &+ reads.misses))
      let stale =
        reads.staleHits > 0 ? ", \(Wording.count(Int(clamping: reads.staleHits))) stale" : ""
      let words = rate.map { "\(Int(($0 * 100).rounded())) % of \(all)\(stale)" }
      return (label: namespace.info.name, share: rate ?? 0, words: words ?? "no reads yet")
    }
    // Samples are of the whole store.
    let chart = isWhole ? HitRateChart(try session.store.readHistory()).html(clock) + "\n" : ""
    return HTML.section("Hit rate", chart + HTML.bars("Hit rate", rows))
  }

  private func top(_ clock: WallClock) -> String {
    HTML.section(
      "The largest entries",
      HTML.table(
        ["namespace", "key", "size", "written", "expires"],
        largest.map {
          [
            $0.namespace, Quoting.brief($0.key.bytes), Wording.size($0.size),
            clock.fullDate($0.written.unix), $0.expires.map { clock.fullDate($0.unix) } ?? "never",
          ]
        }))
  }

  private func limits() throws -> String {
    let report = try LimitReport(of: isWhole ? nil : namespaces[0].info.name, in: session)
    return HTML.section(
      "Limits", HTML.table(LimitReport.titles, report.texts(for: session.output.presentation)))
  }
}
