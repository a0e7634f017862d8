import ExampleProgram
import Larder
import LegoCache
import Service

/// The result of an import or a refresh, as text and as JSON.
struct ImportSummary: Encodable {
  let report: ImportReport
  private let store: String
  private let seconds: Double
  /// The entities of each kind that are stored now.
  private let stored: [EntityKind: Int]
  /// The largest size of the file, in bytes; nil if there is no limit.
  private let limit: Int?
  private let source: String
  private let realm: Realm
  /// Why it stopped; nil if it was completed.
  private let reason: (any Error)?

  private enum CodingKeys: String, CodingKey { case report, store, seconds, stored, limit }

  /// The most faults that the text lists.
  private static let listed = 5

  /// Runs `body`, and shows its progress.
  ///
  /// - Parameter source: the source's name in messages, "the folder".
  init(
    in cache: LegoCache, from source: String,
    _ body: (@escaping @Sendable (LegoImport.Progress) -> Void) async throws -> ImportReport
  ) async throws {
    let line = ProgressLine.atTerminal
    let start = ContinuousClock.now
    do {
      defer { line?.clear() }
      report = try await body { step in
        line?.advance(step.kind.word, done: step.done, of: step.total)
      }
      reason = nil
    } catch let stopped as LegoImport.Stopped {
      (report, reason) = (stopped.report, stopped.reason)
    }
    seconds = (ContinuousClock.now - start) / .seconds(1)
    (store, realm, self.source) = (cache.larder.path, cache.realm, source)
    limit = try cache.larder.limits().effective.disk
    stored = try Dictionary(
      uniqueKeysWithValues: report.tallies.keys.map { ($0, try cache.count(of: $0)) })
  }

  /// Prints it, and throws the reason why the import stopped, or a failure if not all of a kind is stored.
  func finish(_ store: StoreOption) throws {
    let largest = kinds.max { $0.tally.read < $1.tally.read }?.kind
    let looks = largest.map { ["keys @\(realm.name($0.namespace)) --limit 5"] } ?? []
    try store.show(
      self, closing: ["namespaces"] + looks + ["keys @* --sort expiry --limit 5 --long"], rows)
    if let reason { throw reason }
    if let limit, kinds.contains(where: { isCut($0.kind, $0.tally) }) {
      throw Failure(
        .failed, "not all is stored, because the file is limited to \(limit / 1_000_000) MB",
        hint: store.raising(to: 2 * limit))
    }
  }

  /// Whether entities of a kind were evicted meanwhile.
  private func isCut(_ kind: EntityKind, _ tally: ImportReport.Tally) -> Bool {
    limit != nil && stored[kind].map { $0 < tally.read } ?? false
  }

  private var kinds: [(kind: EntityKind, tally: ImportReport.Tally)] {
    EntityKind.allCases.compactMap { kind in report.tallies[kind].map { (kind, $0) } }
  }

  private var rows: [String] {
    let read = kinds.reduce(0) { $0 + $1.tally.read }
    let rate = Int(Double(read) / max(seconds, 0.001)).grouped
    let time = Duration.seconds(seconds).words
    return table + notes + ["", "\(read.grouped) entities in \(time), \(rate)/s", ""]
  }

  private var table: [String] {
    var table = TextTable(["", "added", "changed", "renewed", "unchanged", "removed"])
    var totals = [0, 0, 0, 0, 0]
    for (kind, tally) in kinds {
      let numbers = [tally.added, tally.changed, tally.renewed, tally.unchanged, tally.removed]
      table.add([kind.word] + numbers.map(\.grouped))
      totals = zip(totals, numbers).map(+)
    }
    if kinds.count > 1 { table.add(["total"] + totals.map(\.grouped)) }
    return table.lines
  }

  private var notes: [String] {
    var lines: [String] = []
    for (kind, tally) in kinds {
      if let skipped = report.skipped[kind] {
        lines.append("\(kind.word): \(skipped.count.counted("fault"))")
        lines += skipped.list.prefix(Self.listed).map { "  " + $0 }
        if skipped.count > Self.listed { lines.append("  ... (--json lists more)") }
        if skipped.areUnreadable {
          lines.append("\(kind.word): nothing was removed, because some rows cannot be read")
        }
      }
      if let limit, let stored = stored[kind], isCut(kind, tally) {
        lines.append(
          "\(kind.word): \(stored.grouped) of \(tally.read.grouped) stored, because the file is limited to \(limit / 1_000_000) MB"
        )
      }
    }
    for kind in EntityKind.allCases {
      switch report.omissions[kind] {
      case .absent: lines.append("\(kind.word) left alone: \(source) does not have them in full")
      case .off: lines.append("\(kind.word) left alone: these lifetimes switch them off")
      case .notBegun: lines.append("\(kind.word) left alone: it stopped before them")
      case nil: break
      }
    }
    if let failure = report.failure {
      lines.append(
        "\(failure.kind.word): stopped after \(failure.imported.grouped) entities, nothing of them was removed; run it again to continue"
      )
    }
    return lines
  }
}
