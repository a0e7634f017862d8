import Larder

/// What `stats` answers.
struct StatisticsReport {
  private let statistics: Statistics
  private let namespaces: [Statistics.Namespace]
  private let isWhole: Bool

  /// - Parameter only: The namespace that is wanted; nil is the store.
  init(_ statistics: Statistics, only: String?) {
    self.statistics = statistics
    isWhole = only == nil
    namespaces = statistics.namespaces.filter { only == nil || $0.facts.name == only }
  }

  /// A person reads the store's facts, then tables; everybody else gets one object.
  func replies(for presentation: Presentation) -> [Reply] {
    guard presentation.mode == .table else { return [Reply(.object(columns, cells), isLong: true)] }
    guard isWhole else { return namespaces.map { Reply(.object(Self.titles, facts($0))) } }
    var replies = [Reply(.object(titles, facts))]
    if !namespaces.isEmpty {
      replies.append(Reply(.text("\n")))
      replies.append(Reply(.rows(Self.namespaceColumns, namespaces.map(row))))
    }
    if !statistics.readers.isEmpty {
      replies.append(Reply(.text("\n")))
      replies.append(Reply(.rows(Self.readerColumns, statistics.readers.map(row))))
    }
    return replies
  }

  // MARK: For a person

  private var titles: [Column] {
    [
      "store", "entries", "values", "file", "free in it", "reads found", "reads missed",
      "found of all",
    ]
    .map { Column($0) }
  }

  private var facts: [Cell] {
    let file = statistics.file
    let reads = statistics.reads
    return [
      .text(statistics.path), .number(statistics.entries), .size(statistics.bytes),
      .size(file.size), .size(file.freePages * file.pageSize), .number(Int(clamping: reads.hits)),
      .number(Int(clamping: reads.misses)), reads.hitRate.map { .share($0) } ?? .null,
    ]
  }

  private static let namespaceColumns = [
    Column("namespace"), Column("entries"), Column("size"), Column("found"), Column("missed"),
    Column("of all"), Column("expired"), Column("evicted"), Column("removed"), Column("replaced"),
  ]

  private func row(_ namespace: Statistics.Namespace) -> [Cell] {
    let reads = namespace.reads
    let reasons: [RemovalReason] = [.expired, .evicted, .removed, .replaced]
    return [
      .text(namespace.facts.name), .number(namespace.facts.entries), .size(namespace.facts.bytes),
      .number(Int(clamping: reads.hits)), .number(Int(clamping: reads.misses)),
      reads.hitRate.map { .share($0) } ?? .null,
    ] + reasons.map { .number(Int(clamping: namespace.removals[$0])) }
  }

  private static let readerColumns = [
    Column("reader"), Column("commits since"), Column("", in: .table),
  ]
  /// Since then pages cannot be used again, and the file may have grown.
  private static let oldReader: UInt64 = 1000

  private func row(_ reader: Statistics.Reader) -> [Cell] {
    let isOld = reader.age.map { $0 >= Self.oldReader } ?? false
    return [
      .text("process \(reader.process)"), reader.age.map { .number(Int(clamping: $0)) } ?? .null,
      .text(
        reader.age == nil ? "idle" : isOld ? "old: keeps pages from being used again" : "reads"),
    ]
  }

  private static let titles = objectNames.map { Column($0) }

  private static var objectNames: [String] {
    [
      "namespace", "entries", "size", "stored", "hits", "misses", "absent", "late", "stale",
      "damaged",
      "undecodable",
    ] + RemovalReason.allCases.map { "removals: \($0)" }
  }

  private func facts(_ namespace: Statistics.Namespace) -> [Cell] {
    let facts = namespace.facts
    return [
      .text(facts.name), .number(facts.entries), .size(facts.bytes), .size(facts.stored),
    ] + Self.counts(namespace.reads).map { .number($0.count) }
      + RemovalReason.allCases.map { .number(Int(clamping: namespace.removals[$0])) }
  }

  // MARK: As data

  private var columns: [Column] {
    let names =
      isWhole
      ? ["path", "format", "entries", "bytes", "stored", "file", "reads", "namespaces", "readers"]
      : ["namespaces"]
    return names.map { Column($0) }
  }

  private var cells: [Cell] {
    let list = Cell.json(.array(namespaces.map { .object(Self.object($0)) }))
    guard isWhole else { return [list] }
    let file = statistics.file
    return [
      .text(statistics.path), .number(statistics.format), .number(statistics.entries),
      .size(statistics.bytes), .size(statistics.stored),
      .json(
        .object([
          .init("size", .number(file.size)), .init("page_size", .number(file.pageSize)),
          .init("pages", .number(file.pages)), .init("free_pages", .number(file.freePages)),
          .init("transaction", .number(Int(clamping: file.transaction))),
        ])),
      .json(Self.reads(statistics.reads)), list,
      .json(
        .array(
          statistics.readers.map { reader in
            .object([
              .init("process", .number(reader.process)),
              .init("age", reader.age.map { .number(Int(clamping: $0)) } ?? .null),
            ])
          })),
    ]
  }

  private static func object(_ namespace: Statistics.Namespace) -> [JSON.Field] {
    let facts = namespace.facts
    let removals = RemovalReason.allCases.map { reason in
      JSON.Field("\(reason)", .number(Int(clamping: namespace.removals[reason])))
    }
    return [
      .init("namespace", .string(facts.name)), .init("entries", .number(facts.entries)),
      .init("bytes", .number(facts.bytes)), .init("stored", .number(facts.stored)),
      .init("reads", reads(namespace.reads)), .init("removals", .object(removals)),
    ]
  }

  private static func reads(_ reads: ReadCounters) -> JSON {
    .object(counts(reads).map { .init($0.name, .number($0.count)) })
  }

  private static func counts(_ reads: ReadCounters) -> [(name: String, count: Int)] {
    [
      ("hits", reads.hits), ("misses", reads.misses), ("absent", reads.absent),
      ("expired", reads.expired), ("stale", reads.stale), ("damaged", reads.damaged),
      ("undecodable", reads.undecodable),
    ].map { ($0.0, Int(clamping: $0.1)) }
  }
}
