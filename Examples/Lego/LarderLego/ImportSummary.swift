import ExampleProgram
import Larder
import LegoCache

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is said at the end of an import.
struct ImportSummary {
  let report: ImportReport
  private let store: String
  private let realm: Realm
  private let source: String
  private let seconds: Double
  /// How many entities of each kind the store holds now.
  private let held: [EntityKind: Int]
  /// What its file may grow to, in bytes; nil if it may grow as it likes.
  private let limit: Int?

  /// - Parameter source: where the entities came from, "the folder".
  init(
    _ report: ImportReport, in cache: LegoCache, from source: String, seconds: Double
  ) throws {
    self.report = report
    self.source = source
    self.seconds = seconds
    store = cache.larder.path
    realm = cache.realm
    limit = try cache.larder.limits().effective.disk
    var held: [EntityKind: Int] = [:]
    for kind in report.tallies.keys { held[kind] = try cache.count(of: kind) }
    self.held = held
  }

  /// A table, what was left out, how long it took, and how to look at the store.
  /// - Parameter path: the store as the user called it.
  func text(naming path: String) -> String {
    let kinds = EntityKind.allCases.filter { report.tallies[$0] != nil }
    var rows = [["", "added", "changed", "renewed", "unchanged", "removed"]]
    rows += kinds.map { row($0.word, report.tallies[$0] ?? ImportReport.Tally()) }
    if kinds.count > 1 { rows.append(row("total", report.total)) }
    let first = rows.map { $0[0].count }.max() ?? 0
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      let numbers = row.indices.dropFirst().map { row[$0].flushRight(to: widths[$0]) }
      return ([row[0].padded(to: first)] + numbers).joined(separator: "  ")
    }
    for kind in EntityKind.allCases {
      switch report.omissions[kind] {
      case .absent: lines.append("\(kind.word) left alone: \(source) does not have them in full")
      case .off: lines.append("\(kind.word) left alone: these lifetimes switch them off")
      case nil: continue
      }
    }
    for kind in kinds {
      let (held, read) = (held[kind] ?? 0, report.tallies[kind]?.read ?? 0)
      guard let limit, held < read else { continue }
      lines.append(
        "\(kind.word): \(held.grouped) of \(read.grouped) held, for the file may grow to \(limit / 1_000_000) MB; --limit says otherwise"
      )
    }
    let rate = Int(Double(report.total.read) / max(seconds, 0.001)).grouped
    lines += ["", "\(report.total.read.grouped) entities in \(time), \(rate)/s", ""]
    let most = kinds.max { report.tallies[$0]?.read ?? 0 < report.tallies[$1]?.read ?? 0 }
    let some = most.map { "keys @\(realm.name($0.namespace)) --limit 5" }
    let closing = Closing(
      store: path,
      commands: ["namespaces"] + (some.map { [$0] } ?? [])
        + ["keys @* --sort expiry --limit 5 --long"])
    return (lines + [closing.text]).joined(separator: "\n")
  }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let kinds = EntityKind.allCases.compactMap { kind in
        report.tallies[kind].map {
          Document.Kind(namespace: kind.namespace, tally: $0, held: held[kind] ?? 0)
        }
      }
      let omitted = EntityKind.allCases.compactMap { kind in
        report.omissions[kind].map { Document.Omitted(namespace: kind.namespace, reason: $0) }
      }
      let document = Document(
        store: store, seconds: seconds, kinds: kinds, omitted: omitted, total: report.total,
        limit: limit)
      return String(decoding: try encoder.encode(document), as: UTF8.self)
    }
  }

  private struct Document: Encodable {
    struct Kind: Encodable {
      var namespace: String
      var tally: ImportReport.Tally
      var held: Int
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
    var limit: Int?
  }

  private func row(_ name: String, _ tally: ImportReport.Tally) -> [String] {
    [name]
      + [tally.added, tally.changed, tally.renewed, tally.unchanged, tally.removed].map(\.grouped)
  }

  private var time: String {
    seconds < 1
      ? "\(Int(seconds * 1000)) ms" : "\(Int(seconds * 10) / 10).\(Int(seconds * 10) % 10) s"
  }
}
