import Larder
import LarderSystem
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct StatisticsReport {
  private var statistics: Statistics
  private let namespaces: [Statistics.Namespace]
  private let limitInfo: StoreLimitInfo
  private var limits: StoreLimits { limitInfo.effective }
  private let isWhole: Bool
  private let added: [Additions.Fact]
  private let http: [HTTPCounts]

  /// - Parameter living: The namespaces. Their counts do not include expired entries that are still in the file.
  init(
    _ statistics: Statistics, _ limits: StoreLimitInfo, living: [NamespaceInfo], only: String?,
    added: [Additions.Fact], http: [HTTPCounts]
  ) {
    self.added = added
    self.statistics = statistics
    limitInfo = limits
    // This process reads only for this command, so its own readers are removed from the list.
    self.statistics.readers.removeAll {
      $0.process == Int(ProcessInfo.processInfo.processIdentifier)
    }
    isWhole = only == nil
    self.http = http.filter { only == nil || $0.namespace.isExactly(only) }
    namespaces = statistics.namespaces.filter { only == nil || $0.info.name.isExactly(only) }.map {
      var namespace = $0
      namespace.info = living.first { $0.name.isExactly(namespace.info.name) } ?? namespace.info
      return namespace
    }
  }

  /// The answer: tables for a person, lines of facts for a pipe, one object for JSON.
  var reply: Reply {
    let (lines, tables) = (lines, Reply.Body.parts(tables))
    return Reply(
      object,
      in: [.table: tables, .markdown: tables, .plain: lines, .raw: lines, .csv: lines])
  }

  // MARK: For a person

  private var tables: [Reply.Body] {
    var replies = isWhole ? [storeTable] : []
    func add(_ titles: [String], _ rows: [[Cell]]) {
      guard !rows.isEmpty else { return }
      if !replies.isEmpty { replies.append(.text("\n")) }
      replies.append(.rows(titles.map { Column($0) }, rows))
    }
    add(Self.titles, namespaces.map(row))
    add(["evicted", "because", "entries"], evictions)
    add(["HTTP", "requests", "count"], httpRows { $0 })
    if isWhole { add(["reader", "commits since", ""], statistics.readers.map(row)) }
    return replies
  }

  private var evictions: [[Cell]] {
    namespaces.flatMap { namespace in
      RemovalReason.allCases.compactMap { reason -> [Cell]? in
        let count = namespace.removals[reason]
        guard reason.isEviction, count > 0, let words = reason.words else { return nil }
        return [
          .text(namespace.info.name), .text(words), .number(Int(clamping: count)),
        ]
      }
    }
  }

  private func httpRows(_ name: (String) -> String) -> [[Cell]] {
    http.flatMap { http in
      http.counts.map { [.text(http.namespace), .text(name($0.name)), .number($0.count)] }
    }
  }

  private var storeTable: Reply.Body {
    let file = statistics.file
    let reads = statistics.reads
    let facts: [(String, Cell)] =
      [
        ("store", .text(statistics.path)), ("entries", .number(total.entries)),
        ("values", .size(total.bytes)), ("file", .size(file.size)),
        ("durability", .text(statistics.durability.words)),
        ("limits", limitInfo.words.map { .text($0) } ?? .null),
        ("free space", .size(file.freePages * file.pageSize)),
        ("hits", .number(Int(clamping: reads.hits))),
        ("stale hits", .number(Int(clamping: reads.staleHits))),
        ("misses", .number(Int(clamping: reads.misses))),
        ("hit rate", reads.hitRate.map { .share($0) } ?? .null),
      ] + addedFacts.map { ($0.name.replacing("_", with: " "), $0.cell) }
    return .object(facts.map { Column($0.0) }, facts.map(\.1))
  }

  private var total: Tally { namespaces.map(\.info).tally }

  private static let titles = [
    "namespace", "entries", "size", "hits", "stale", "misses", "rate", "expired", "evicted",
    "limit",
  ]

  private func row(_ namespace: Statistics.Namespace) -> [Cell] {
    let reads = namespace.reads
    let removed = [namespace.removals[.expired], namespace.removals.evicted]
    let counts = [reads.hits, reads.staleHits, reads.misses].map { Cell.number(Int(clamping: $0)) }
    return [
      .text(namespace.info.name), .number(namespace.info.entries), .size(namespace.info.bytes),
    ] + counts + [reads.hitRate.map { .share($0) } ?? .null]
      + removed.map { .number(Int(clamping: $0)) }
      + [namespace.info.rules.limits.words.map { .prose($0) } ?? .null]
  }

  /// The age in commits at which a reader counts as old. An old reader keeps so many freed pages that the file may grow.
  private static let oldAge: UInt64 = 1000

  private func row(_ reader: Statistics.Reader) -> [Cell] {
    let isOld = reader.age.map { $0 >= Self.oldAge } ?? false
    let remark =
      reader.age == nil ? "idle" : isOld ? "old: blocks the reuse of freed pages" : "reading"
    return [
      .text("process \(reader.process)"), reader.age.map { .number(Int(clamping: $0)) } ?? .null,
      .prose(remark),
    ]
  }

  // MARK: As data

  private var object: Reply.Body {
    let all =
      Self.object(storeFacts) + [
        JSON.Field("namespaces", .array(namespaces.map { .object(Self.object(self.facts($0))) })),
        JSON.Field(
          "readers",
          .array(
            statistics.readers.map { reader in
              .object([
                .init("process", .number(reader.process)),
                .init("age", reader.age.map { .number(Int(clamping: $0)) } ?? .null),
              ])
            })),
      ]
    let shown = (isWhole ? all : all.filter { $0.name == "namespaces" }) + httpFields
    return .object(shown.map { Column($0.name) }, shown.map { .json($0.value) })
  }

  /// The counts of HTTP caches. Empty if no HTTP cache has saved its counts.
  private var httpFields: [JSON.Field] {
    guard !http.isEmpty else { return [] }
    return [
      JSON.Field(
        "http",
        .object(
          http.map { http in
            .init(http.namespace, .object(http.counts.map { .init($0.name, .number($0.count)) }))
          }))
    ]
  }

  /// Rows with a namespace, the name of a fact, and its value. The name `@*` means the whole store.
  private var lines: Reply.Body {
    let store = isWhole ? storeFacts.map { [.text("@*"), .text($0.name), $0.cell] } : []
    let rows = namespaces.flatMap { namespace in
      facts(namespace).dropFirst().map { fact -> [Cell] in
        [.text(namespace.info.name), .text(fact.name), fact.cell]
      }
    }
    return .rows(["namespace", "fact", "value"], store + rows + httpRows { "http " + $0 })
  }

  private typealias Fact = Additions.Fact

  private var storeFacts: [Fact] {
    let file = statistics.file
    return [
      ("path", .text(statistics.path)), ("format", .number(statistics.format)),
      ("durability", .text(statistics.durability.rawValue)),
      ("entries", .number(total.entries)), ("bytes", .size(total.bytes)),
      ("stored", .size(statistics.storedSize)), ("file_size", .size(file.size)),
      ("page_size", .size(file.pageSize)), ("pages", .number(file.pages)),
      ("free_pages", .number(file.freePages)),
      ("transaction", .number(Int(clamping: file.transaction))),
    ]
      + Self.limits([
        ("entries", limits.entries), ("bytes", limits.bytes), ("disk", limits.disk),
        ("memory", limits.memory),
      ]) + Self.counts(statistics.reads) + addedFacts
  }

  private var addedFacts: [Fact] {
    guard let size = statistics.writeBuffer?.size else { return added }
    return [("write_buffer", .size(size.used)), ("buffer_limit", .size(size.limit ?? 0))] + added
  }

  private func facts(_ namespace: Statistics.Namespace) -> [Fact] {
    let facts = namespace.info
    return [
      ("namespace", .text(facts.name)), ("entries", .number(facts.entries)),
      ("bytes", .size(facts.bytes)), ("stored", .size(facts.storedSize)),
    ]
      + Self.limits([
        ("entries", facts.rules.limits.entries), ("bytes", facts.rules.limits.bytes),
      ]) + Self.counts(namespace.reads)
      + RemovalReason.allCases.map { reason in
        ("removals_\(reason.name)", .number(Int(clamping: namespace.removals[reason])))
      }
  }

  private static func limits(_ limits: [(name: String, value: Int?)]) -> [Fact] {
    limits.map { ("limit_\($0.name)", $0.value.map { .number($0) } ?? .null) }
  }

  private static func counts(_ reads: ReadCounters) -> [Fact] {
    [
      ("hits", reads.hits), ("stale_hits", reads.staleHits), ("misses", reads.misses),
      ("misses_absent", reads.absent),
      ("misses_expired", reads.expired), ("misses_stale", reads.stale),
      ("misses_damaged", reads.damaged), ("misses_undecodable", reads.undecodable),
    ].map { ($0.0, .number(Int(clamping: $0.1))) }
  }

  private static func object(_ facts: [Fact]) -> [JSON.Field] {
    facts.map { $0.cell.jsonField($0.name) }
  }
}

extension Durability {
  /// Words such as `durable: a power failure loses nothing; a killed process loses nothing`.
  var words: String {
    let loss =
      self == .durable
      ? "a power failure loses nothing"
      : self == .checkpointed
        ? "a power failure may lose the writes of the last 200 ms and those made during the next sync"
        : self == .scratch
          ? "a power failure empties the store unless it was closed or synced"
          : "a power failure may lose the last commit"
    return "\(rawValue): \(loss); a killed process loses nothing"
  }
}

extension StoreLimitInfo {
  /// Whether the effective disk limit is the default limit that was chosen when the store was created.
  var isDiskDefault: Bool { defaultDisk != nil && declared.disk == nil && overrides.disk == nil }

  /// Words such as `5.5 GB (default: a tenth of the free disk, up to 10 GB)`; nil if there is no disk limit.
  var diskWords: String? {
    effective.disk.map { disk in
      Wording.size(disk)
        + (isDiskDefault ? " (default: a tenth of the free disk, up to 10 GB)" : "")
    }
  }

  /// Words such as `64 MB, 1,000 entries, file of 1 GB`; nil if there is no limit.
  var words: String? {
    let parts = [
      Limits(entries: effective.entries, bytes: effective.bytes).words,
      effective.memory.map { "memory of \(Wording.size($0))" },
      diskWords.map { "file of \($0)" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
