import ExampleProgram
import Larder
import LegoCache
import Service

/// The result of an import or a refresh, as text and as JSON.
struct ImportSummary: Encodable {
  let report: ImportReport
  private let store: String
  private let seconds: Double
  /// The entities that are stored now, of each kind that was read.
  private let stored: [EntityKind: Int]
  /// By namespace: the entities that were evicted, also those of other realms. Of a kind that was read to its end only those that the
  /// source has.
  private let evicted: [String: Int]
  /// The largest size of the file, in bytes; nil if there is no limit.
  private let limit: Int?
  private let source: String
  private let cache: LegoCache
  /// Why it stopped; nil if it was completed.
  private let reason: (any Error)?

  private enum CodingKeys: String, CodingKey { case report, store, seconds, stored, evicted, limit }

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
    let before = try Self.evictions(in: cache.larder)
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
    (store, self.cache, self.source) = (cache.larder.path, cache, source)
    limit = try cache.larder.limits().effective.disk
    stored = try Dictionary(
      uniqueKeysWithValues: report.tallies.keys.map { ($0, try cache.count(of: $0)) })
    var evicted = try Self.evictions(in: cache.larder)
    for (name, count) in evicted { evicted[name] = count - (before[name] ?? 0) }
    for (kind, tally) in report.tallies where report.failure?.kind != kind {
      evicted[cache.name(kind.namespace)] = tally.read - (stored[kind] ?? 0)
    }
    self.evicted = limit == nil ? [:] : evicted.filter { $0.value > 0 }
  }

  /// How many entities were evicted since the store was made, by namespace.
  private static func evictions(in store: Store) throws -> [String: Int] {
    let names = try store.statistics().namespaces.map { ($0.info.name, Int($0.removals.evicted)) }
    return Dictionary(uniqueKeysWithValues: names).filter { name, _ in
      EntityKind.allCases.contains { name == $0.namespace || name.hasPrefix($0.namespace + ".") }
    }
  }

  /// Prints it, and throws the reason why the import stopped, or a failure if not all of a kind is stored.
  func finish(_ store: StoreOption) throws {
    let largest = kinds.max { $0.tally.read < $1.tally.read }?.kind
    let looks = largest.map { ["keys @\(cache.name($0.namespace)) --limit 5"] } ?? []
    try store.show(
      self, closing: ["namespaces"] + looks + ["keys @* --sort expiry --limit 5 --long"], rows)
    if let reason { throw reason }
    if let limit, !evicted.isEmpty {
      throw Failure(
        .failed, "not all is stored, because the file is limited to \(limit / 1_000_000) MB",
        hint: store.raising(to: 2 * limit))
    }
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
    for kind in EntityKind.allCases {
      guard let skipped = report.skipped[kind] else { continue }
      lines.append("\(kind.word): \(skipped.count.counted("fault"))")
      lines += skipped.list.prefix(Self.listed).map { "  " + $0 }
      if skipped.count > Self.listed { lines.append("  ... (--json lists more)") }
      if skipped.areUnreadable {
        lines.append("\(kind.word): nothing was removed, because some rows cannot be read")
      }
    }
    lines += evictions
    for kind in EntityKind.allCases where evicted[cache.name(kind.namespace)] == nil {
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

  /// A line for each namespace that lost entities.
  private var evictions: [String] {
    let kinds = EntityKind.allCases.map { (name: cache.name($0.namespace), kind: $0) }
    return evicted.sorted { $0.key < $1.key }.map { name, count in
      let kind = kinds.first { $0.name == name }?.kind
      let fate =
        if let kind, let read = report.tallies[kind]?.read, report.failure?.kind != kind {
          "\((read - count).grouped) of \(read.grouped) stored"
        } else {
          "\(count.grouped) of those stored before were evicted"
        }
      return
        "\(kind?.word ?? name): \(fate), because the file is limited to \((limit ?? 0) / 1_000_000) MB"
    }
  }
}
