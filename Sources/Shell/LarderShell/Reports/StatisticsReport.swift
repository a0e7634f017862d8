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
  private let isWhole: Bool
  private let added: [Host.Fact]
  private let http: [HTTPCounts]

  init(of session: Session, only: String?) throws {
    statistics = try session.store.statistics()
    limitInfo = try session.store.limits()
    // The counts of `living` do not include expired entries that are still in the file.
    let living = try Dictionary(
      session.livingNamespaces().map { (ExactString($0.name), $0) }
    ) { $1 }
    added = try session.host.storeFacts(session.store)
    http = try HTTPCounts.read(in: session).filter { only == nil || $0.namespace.isExactly(only) }
    // This process reads only for this command, so the readers of this process are removed from the list.
    statistics.readers.removeAll { $0.process == Int(ProcessInfo.processInfo.processIdentifier) }
    isWhole = only == nil
    namespaces = statistics.namespaces.filter { only == nil || $0.info.name.isExactly(only) }.map {
      var namespace = $0
      namespace.info = living[ExactString(namespace.info.name)] ?? namespace.info
      return namespace
    }
  }

  var reply: Reply {
    let (lines, tables) = (lines, Reply.Body.parts(tables))
    return Reply(
      object, in: [.table: tables, .markdown: tables, .plain: lines, .raw: lines, .csv: lines])
  }

  private var tables: [Reply.Body] {
    let all = namespaces.map { facts($0) }
    let tables: [(columns: [Column], rows: [[Cell]])] = [
      ((all.first ?? []).map { $0.column }, all.map { facts in facts.map { $0.cell } }),
      (["evicted", "because", "entries"], evictions), (["damaged in", "reads"], damage),
      (["HTTP", "requests", "count"], httpRows { $0 }),
      (["reader", "commits since", ""], isWhole ? statistics.readers.map(row) : []),
    ]
    var bodies = isWhole ? [Self.object(storeFacts)] : []
    bodies += tables.filter { !$0.rows.isEmpty }.map { Reply.Body.rows($0.columns, $0.rows) }
    return Array(bodies.map { [$0] }.joined(separator: [Reply.Body.text("\n")]))
  }

  private var evictions: [[Cell]] {
    namespaces.flatMap { namespace in
      RemovalReason.allCases.compactMap { reason -> [Cell]? in
        let count = namespace.removals[reason]
        guard reason.isEviction, count > 0, let words = reason.texts.words else { return nil }
        return [.text(namespace.info.name), .text(words), .number(Int(clamping: count))]
      }
    }
  }

  private var damage: [[Cell]] {
    namespaces.filter { $0.reads.damaged > 0 }.map {
      [.text($0.info.name), .number(Int(clamping: $0.reads.damaged))]
    }
  }

  private func httpRows(_ name: (String) -> String) -> [[Cell]] {
    http.flatMap { http in
      http.counts.map { [.text(http.namespace), .text(name($0.name)), .number($0.count)] }
    }
  }

  /// A reader counts as old at this age in commits. An old reader blocks the reuse of so many freed pages that the file may grow.
  private static let oldAge: UInt64 = 1000

  private func row(_ reader: Statistics.Reader) -> [Cell] {
    let state = reader.age.map {
      $0 >= Self.oldAge ? "old: blocks the reuse of freed pages" : "reading"
    }
    return [.text("process \(reader.process)"), age(reader), .prose(state ?? "idle")]
  }

  private func age(_ reader: Statistics.Reader) -> Cell {
    .optional(reader.age.map { Int(clamping: $0) }, Cell.number)
  }

  private var object: Reply.Body {
    let spaces = namespaces.map { namespace in
      JSON.object(Self.data(facts(namespace)).map { $0.cell.jsonField($0.column.name) })
    }
    let readers = statistics.readers.map { reader in
      JSON.object([.init("process", .number(reader.process)), age(reader).jsonField("age")])
    }
    let counts = http.map { http in
      JSON.Field(http.namespace, .object(http.counts.map { .init($0.name, .number($0.count)) }))
    }
    var all = isWhole ? storeFacts : []
    all.append(("namespaces", .json(.array(spaces))))
    if isWhole { all.append(("readers", .json(.array(readers)))) }
    // If no HTTP cache has saved its counts, the answer has no field `http`.
    if !http.isEmpty { all.append(("http", .json(.object(counts)))) }
    return Self.object(all)
  }

  /// Rows with a namespace, the name of a fact, and its value. The name `@*` means the whole store.
  private var lines: Reply.Body {
    var named = isWhole ? [(name: "@*", facts: storeFacts)] : []
    // The first fact of a namespace is its name, which each row already has.
    named += namespaces.map { (name: $0.info.name, facts: Array(facts($0).dropFirst())) }
    let rows = named.flatMap { name, facts in
      Self.data(facts).map { fact -> [Cell] in [.text(name), .text(fact.column.name), fact.cell] }
    }
    return .rows(["namespace", "fact", "value"], rows + httpRows { "http " + $0 })
  }

  private typealias Fact = (column: Column, cell: Cell)

  private static func data(_ facts: [Fact]) -> [Fact] {
    facts.filter { $0.column.visibility.contains(.data) }
  }

  private static func object(_ facts: [Fact]) -> Reply.Body {
    .object(facts.map { $0.column }, facts.map { $0.cell })
  }

  private var storeFacts: [Fact] {
    let (file, total) = (statistics.file, namespaces.map(\.info).tally)
    var facts: [Fact] = [
      (Column("path", title: "store"), .text(statistics.path)),
      (Column("format", in: .data), .number(statistics.format)),
      (Column("durability", in: .data), .text(statistics.durability.rawValue)),
      (Column("entries"), .number(total.entries)),
      (Column("bytes", title: "values"), .size(total.bytes)),
      (Column("stored", in: .data), .size(statistics.storedSize)),
      (Column("file_size", title: "file"), .size(file.size)),
      (Column("durability", in: .table), .text(statistics.durability.words)),
      (Column("limits", in: .table), .optional(limitInfo.words, Cell.text)),
      (Column("page_size", in: .data), .size(file.pageSize)),
      (Column("pages", in: .data), .number(file.pages)),
      (Column("free_pages", in: .data), .number(file.freePages)),
      (Column("free space", in: .table), .size(file.freePages * file.pageSize)),
      (Column("transaction", in: .data), .number(Int(clamping: file.transaction))),
    ]
    let limits = limitInfo.effective
    facts += Self.limits([
      ("entries", limits.entries), ("bytes", limits.bytes), ("disk", limits.disk),
      ("memory", limits.memory),
    ])
    facts += Self.counts(statistics.reads, stale: "stale hits", rate: "hit rate")
    var further: [Host.Fact] = []
    if let size = statistics.writeBuffer?.size {
      further = [("write_buffer", .size(size.used)), ("buffer_limit", .size(size.limit ?? 0))]
    }
    for (name, cell) in further + added {
      facts.append((Column(name, title: name.replacing("_", with: " ")), cell))
    }
    return facts
  }

  private func facts(_ namespace: Statistics.Namespace) -> [Fact] {
    let (info, removals) = (namespace.info, namespace.removals)
    var facts: [Fact] = [
      (Column("namespace"), .text(info.name)), (Column("entries"), .number(info.entries)),
      (Column("bytes", title: "size"), .size(info.bytes)),
      (Column("stored", in: .data), .size(info.storedSize)),
    ]
    let limits = info.rules.limits
    facts += Self.limits([("entries", limits.entries), ("bytes", limits.bytes)])
    facts += Self.counts(namespace.reads, stale: "stale", rate: "rate")
    facts += [
      (Column("expired", in: .table), .number(Int(clamping: removals[.expired]))),
      (Column("evicted", in: .table), .number(Int(clamping: removals.evicted))),
      (Column("limit", in: .table), .optional(limits.words, Cell.prose)),
    ]
    for reason in RemovalReason.allCases {
      let count = Int(clamping: removals[reason])
      facts.append((Column("removals_\(reason.texts.name)", in: .data), .number(count)))
    }
    return facts
  }

  private static func limits(_ limits: [(name: String, value: Int?)]) -> [Fact] {
    limits.map { (Column("limit_\($0.name)", in: .data), .optional($0.value, Cell.number)) }
  }

  private static func counts(_ reads: ReadCounters, stale: String, rate: String) -> [Fact] {
    let counts: [(column: Column, count: UInt64)] = [
      (Column("hits"), reads.hits), (Column("stale_hits", title: stale), reads.staleHits),
      (Column("misses"), reads.misses), (Column("misses_absent", in: .data), reads.absent),
      (Column("misses_expired", in: .data), reads.expired),
      (Column("misses_stale", in: .data), reads.stale),
      (Column("misses_damaged", in: .data), reads.damaged),
      (Column("misses_undecodable", in: .data), reads.undecodable),
    ]
    var facts = counts.map { count -> Fact in (count.column, .number(Int(clamping: count.count))) }
    facts.append((Column(rate, in: .table), .optional(reads.hitRate, Cell.share)))
    return facts
  }
}

extension Durability {
  /// Words such as `durable: a power failure loses nothing; a killed process loses nothing`.
  var words: String {
    let loss =
      switch self {
      case .durable: "a power failure loses nothing"
      case .checkpointed:
        "a power failure may lose the writes of the last 200 ms, or of a program's checkpointInterval, and those made during the next sync"
      case .scratch: "a power failure empties the store unless it was closed or synced"
      }
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
      effective.memory.map { "memory of \(Wording.size($0))" }, diskWords.map { "file of \($0)" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
