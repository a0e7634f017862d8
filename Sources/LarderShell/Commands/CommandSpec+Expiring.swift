import Larder

extension CommandSpec {
  static let expiring = CommandSpec(
    "expiring", aliases: ["soon"], .looking, .reads,
    "Shows how much expires when, and what comes first.",
    selection: .optional,
    options: [.value("--within", .ahead, "how far to look; 1h")],
    examples: [
      Example("expiring", "within the hour"),
      Example("soon @departures --within 15m", "sooner"),
    ],
    run: showExpiring)

  private static func showExpiring(_ call: Invocation, in session: Session) throws -> Outcome {
    let now = session.clock.now
    let end = call.moment("--within") ?? now.advanced(by: .seconds(3600))
    var selection = call.selection!
    let namespaces = try session.namespacesOrAll(selection)
    selection.filters.append(.expiring(by: end))
    if session.isForPerson {
      var ends: [Int64] = []
      // How much expires does not depend on how much of the list is wanted.
      var whole = selection
      whole.limit = nil
      _ = try session.forEachEntries(of: whole, in: namespaces) { entries in
        ends += entries.compactMap { $0.expires?.since(now) }
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

  private static func whenIn(_ end: Timestamp, _ session: Session) -> SafeText {
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
