import ExampleProgram
import Larder
import LegoCache
import Service

/// The result of an import or a refresh, as text and as JSON.
struct ImportSummary: Encodable {
  struct Kind: Encodable {
    var namespace: String
    var tally: ImportReport.Tally
    /// Entities of the kind that are stored now.
    var held: Int
    var skipped: SkippedRows?
  }
  struct Omitted: Encodable {
    var namespace: String
    var reason: ImportReport.Omission
  }

  var store: String
  var seconds: Double
  var kinds: [Kind]
  var omitted: [Omitted]
  var total: ImportReport.Tally
  /// The largest size of the file, in bytes; nil if there is no limit.
  var limit: Int?
  var failure: ImportReport.Failure?
  private let source: String
  private let time: Duration
  private let realm: Realm

  private enum CodingKeys: String, CodingKey {
    case store, seconds, kinds, omitted, total, limit, failure
  }

  /// The most skipped rows that the text lists.
  private static let listed = 5

  /// - Parameter source: the source's name in messages, "the folder".
  init(_ report: ImportReport, in cache: LegoCache, source: String, time: Duration) throws {
    store = cache.larder.path
    seconds = time / .seconds(1)
    realm = cache.realm
    limit = try cache.larder.limits().effective.disk
    kinds = try EntityKind.allCases.compactMap { kind in
      try report.tallies[kind].map {
        Kind(
          namespace: kind.namespace, tally: $0, held: try cache.count(of: kind),
          skipped: report.skipped[kind])
      }
    }
    omitted = EntityKind.allCases.compactMap { kind in
      report.omissions[kind].map { Omitted(namespace: kind.namespace, reason: $0) }
    }
    total = report.total
    failure = report.failure
    self.source = source
    self.time = time
  }

  func text(_ store: StoreOption) -> String {
    var table = TextTable(["", "added", "changed", "renewed", "unchanged", "removed"])
    func add(_ name: String, _ tally: ImportReport.Tally) {
      table.add(
        [name]
          + [tally.added, tally.changed, tally.renewed, tally.unchanged, tally.removed]
          .map(\.grouped))
    }
    for kind in kinds { add(word(kind.namespace), kind.tally) }
    if kinds.count > 1 { add("total", total) }
    var lines = table.lines
    for kind in kinds {
      if let skipped = kind.skipped {
        lines.append("\(word(kind.namespace)): \(skipped.count.counted("row")) skipped")
        lines += skipped.list.prefix(Self.listed).map { "  " + $0 }
        if skipped.count > Self.listed { lines.append("  ... (--json lists more)") }
      }
      guard let limit, kind.held < kind.tally.read else { continue }
      lines.append(
        "\(word(kind.namespace)): \(kind.held.grouped) of \(kind.tally.read.grouped) stored, because the file is limited to \(limit / 1_000_000) MB; --limit changes that"
      )
    }
    for kind in omitted {
      let reason =
        switch kind.reason {
        case .absent: "\(source) does not have them in full"
        case .off: "these lifetimes switch them off"
        case .notBegun: "it stopped before them"
        }
      lines.append("\(word(kind.namespace)) left alone: \(reason)")
    }
    if let failure {
      lines.append(
        "\(failure.kind.word): stopped after \(failure.imported.grouped) entities, nothing of them was removed; run it again to continue"
      )
    }
    let rate = Int(Double(total.read) / max(seconds, 0.001)).grouped
    lines += ["", "\(total.read.grouped) entities in \(time.words), \(rate)/s", ""]
    let largest = kinds.max { $0.tally.read < $1.tally.read }
    lines.append(
      store.closing(
        ["namespaces"]
          + (largest.map { ["keys @\(realm.name($0.namespace)) --limit 5"] } ?? [])
          + ["keys @* --sort expiry --limit 5 --long"]))
    return lines.joined(separator: "\n")
  }

  private func word(_ namespace: String) -> String {
    EntityKind(rawValue: namespace)?.word ?? namespace
  }
}
