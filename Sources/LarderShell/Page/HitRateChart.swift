import Larder
import ShellLanguage

/// The hit rate of the store over time: a column for each interval between two samples.
struct HitRateChart {
  /// The reads between two samples.
  struct Interval: Equatable {
    let start: Timestamp
    let end: Timestamp
    let reads: UInt64
    /// Hits, stale ones included, among the reads.
    let rate: Double
  }

  let intervals: [Interval]

  /// Intervals without reads, and those in which counts were reset, are left out.
  init(_ samples: [ReadSample]) {
    intervals = zip(samples, samples.dropFirst()).compactMap { before, after in
      guard after.hits >= before.hits, after.staleHits >= before.staleHits,
        after.misses >= before.misses
      else { return nil }
      let answered = (after.hits - before.hits) &+ (after.staleHits - before.staleHits)
      let reads = answered &+ (after.misses - before.misses)
      guard reads > 0 else { return nil }
      return Interval(
        start: before.time, end: after.time, reads: reads, rate: Double(answered) / Double(reads))
    }
  }

  /// The chart with the times of its ends below.
  func html(_ clock: WallClock) -> String {
    guard let first = intervals.first?.start, let last = intervals.last?.end else {
      return
        "<p>No hit rate over time: maintenance of the store samples the reads once an hour, and two samples with reads between them are needed.</p>"
    }
    let (width, height) = (1000.0, 200.0)
    let span = Double(max(last.milliseconds - first.milliseconds, 1))
    func position(_ time: Timestamp) -> Double {
      Double(time.milliseconds - first.milliseconds) / span * width
    }
    let lines = [0.0, 0.5, 1.0].map { part in
      "<line x1=\"0\" x2=\"1000\" y1=\"\(part * height)\" y2=\"\(part * height)\"/>"
    }
    let columns = intervals.map { interval in
      let (x, end) = (position(interval.start), position(interval.end))
      let tall = max(interval.rate * height, 1)
      let words =
        "\(clock.fullDate(interval.start.unix)) to \(clock.fullDate(interval.end.unix)): \(Self.percent(interval.rate)) of \(Wording.count(Int(clamping: interval.reads)))"
      return
        "<rect x=\"\(Self.short(x))\" y=\"\(Self.short(height - tall))\" width=\"\(Self.short(max(end - x - 1, 1)))\" height=\"\(Self.short(tall))\"><title>\(HTML.text(words))</title></rect>"
    }
    let lowest = intervals.map(\.rate).min() ?? 0
    let highest = intervals.map(\.rate).max() ?? 0
    let words = "Hit rate over time, \(Self.percent(lowest)) to \(Self.percent(highest))"
    return
      (["<p>\(HTML.text(words)); lines at 0, 50 and 100 %</p>"]
      + [
        "<svg class=\"time\" viewBox=\"0 -1 1000 202\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\(HTML.text(words))\">"
      ] + lines + columns
      + [
        "</svg>",
        "<p class=\"ends\"><span>\(HTML.text(clock.fullDate(first.unix)))</span><span>\(HTML.text(clock.fullDate(last.unix)))</span></p>",
      ]).joined(separator: "\n")
  }

  private static func percent(_ rate: Double) -> String { "\(Int((rate * 100).rounded())) %" }

  /// A coordinate with one decimal.
  private static func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
