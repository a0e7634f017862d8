import Larder
import ShellLanguage

struct LimitReport {
  private struct Row {
    let namespace: String
    let limit: String
    var used: Cell = .null
    var allowed: Cell = .null
    var share: Double?
    /// The effect of the limit when it is reached. Nil for a rule that is not a limit, and for a limit that is not set.
    var whenFull: String?
    var declared: Cell = .null
    var override: Cell = .null
    /// Whether the table of the whole store shows the row. The table has the rows of the store, and the rows with a limit.
    var isTelling: Bool {
      allowed != .null && (share != nil || limit == "guaranteed") || namespace == LimitReport.store
    }
  }

  private static let store = "@*"

  private let rows: [Row]
  private let isWhole: Bool
  private let hasDefaultDisk: Bool

  /// - Parameter name: The namespace. If nil, the report is about the store and all its namespaces.
  init(of name: String?, in session: Session) throws {
    isWhole = name == nil
    let namespaces = try name.map { [try session.info(of: $0)] } ?? session.store.namespaces()
    hasDefaultDisk = try isWhole && session.store.limits().isDiskDefault
    let storeRows = try isWhole ? Self.rows(of: session.store, holding: namespaces) : []
    rows = storeRows + namespaces.flatMap { Self.rows($0) }
  }

  /// - Parameter plain: The change that plain output reports instead of the limits.
  func reply(evicted: Tally = Tally(), plain change: ChangeSummary? = nil) -> Reply {
    func body(_ rows: [Row]) -> Reply.Body { .rows(Self.columns, rows.map(Self.cells)) }
    var others: [OutputMode: Reply.Body] = [:]
    // With all rows, the table of the whole store would be too long, so the table has only the rows with `isTelling`.
    if isWhole { others[.table] = body(rows.filter(\.isTelling)) }
    if let change { others[.plain] = change.reply("").others[.plain] }
    return Reply(body(rows), in: others, notes: notes(evicted))
  }

  private func notes(_ evicted: Tally) -> [SafeText] {
    var notes: [SafeText] = evicted.entries == 0 ? [] : ["evicted \(evicted.words)"]
    if hasDefaultDisk {
      notes.append(
        "disk: the default, a tenth of the disk that was free when the store was made, up to 10 GB; `limits --disk none` lifts it"
      )
    }
    let adaptive = rows.contains { $0.limit == "policy" && $0.allowed == .text("adaptive") }
    if !isWhole, adaptive, rows.contains(where: { $0.share != nil }) {
      notes.append(
        "adaptive: evicts entries with few reads first; among unread entries the newest may go first"
      )
    }
    return notes
  }

  /// The table for a person, without shares and bars.
  var table: (columns: [Column], rows: [[Cell]]) {
    let shown = Self.columns.indices.filter { !["share", "bar"].contains(Self.columns[$0].name) }
    let rows = rows.filter { !isWhole || $0.isTelling }.map(Self.cells)
    return (shown.map { Self.columns[$0] }, rows.map { row in shown.map { row[$0] } })
  }

  private static let columns: [Column] = [
    "namespace", "limit", "used", "allowed", Column("share", in: [.table, .data]),
    Column("bar", title: "", in: .table), Column("declared", in: [.table, .data]),
    Column("override", in: [.table, .data]), Column("when_full", title: "when full", in: .table),
  ]

  private static func cells(_ row: Row) -> [Cell] {
    [
      .text(row.namespace), .text(row.limit), row.used, row.allowed,
      .optional(row.share, Cell.share), .optional(row.share, Cell.bar), row.declared,
      row.override, .optional(row.whenFull, Cell.prose),
    ]
  }

  private static func rows(of store: Store, holding namespaces: [NamespaceInfo]) throws -> [Row] {
    let limits = try store.limits()
    let all = [limits.effective, limits.declared, limits.overrides]
    let (used, pages) = (namespaces.tally, try store.statistics().usedDisk)
    let evicts = "evicts low priority first"
    var disk = row(Self.store, "disk", pages.used, Cell.size, all.map(\.disk), whenFull: evicts)
    // Entries may use the limit without its reserve.
    disk.share = pages.utilization
    return [
      row(Self.store, "entries", used.entries, Cell.number, all.map(\.entries), whenFull: evicts),
      row(Self.store, "bytes", used.bytes, Cell.size, all.map(\.bytes), whenFull: evicts), disk,
      // The memory that other processes use is unknown, so the row has no used amount.
      row(
        Self.store, "memory", nil, Cell.size, all.map(\.memory), whenFull: "drops decoded values"),
    ]
  }

  private static func rows(_ info: NamespaceInfo) -> [Row] {
    let (rules, overrides) = (info.rules, info.overrides)
    let all = [rules.limits, info.declared.limits, overrides.limits ?? Limits()]
    let (name, evicts) = (info.name, rules.eviction.words)
    return [
      row(name, "entries", info.entries, Cell.number, all.map(\.entries), whenFull: evicts),
      row(name, "bytes", info.bytes, Cell.size, all.map(\.bytes), whenFull: evicts),
      row(
        name, "guaranteed", nil, Cell.size, all.map(\.guaranteed),
        whenFull: "kept from other namespaces"),
      row(
        name, "entry_size", nil, Cell.size,
        [rules.largestValue, info.declared.largestValue, overrides.largestValue],
        whenFull: "refuses larger values"),
      row(info, "policy", \.eviction, overrides.eviction) { .text($0.rawValue) },
      row(info, "priority", \.priority, overrides.priority) { .text($0.rawValue) },
      row(info, "lifetime", \.expires, overrides.expires, Cell.lifetime),
      row(info, "stale", \.stale, overrides.stale) { .span($0.milliseconds) },
      row(info, "jitter", \.jitter, overrides.jitter) { .share($0) },
    ]
  }

  /// - Parameter values: The allowed amount, the declared amount, and the amount of the override.
  private static func row(
    _ namespace: String, _ limit: String, _ used: Int?, _ cell: (Int) -> Cell,
    _ values: [Int?], whenFull: String
  ) -> Row {
    func shown(_ value: Int?) -> Cell {
      .optional(value) { $0 == Limits.unlimited ? .text("none") : cell($0) }
    }
    var row = Row(
      namespace: namespace, limit: limit, used: .optional(used, cell), allowed: shown(values[0]),
      declared: shown(values[1]), override: shown(values[2]))
    guard let allowed = values[0] else { return row }
    row.whenFull = whenFull
    // A limit of zero is always reached, so the share is 1.
    row.share = used.map { allowed == 0 ? 1 : Double($0) / Double(allowed) }
    return row
  }

  private static func row<Value>(
    _ info: NamespaceInfo, _ name: String, _ rule: KeyPath<Rules, Value>, _ override: Value?,
    _ cell: (Value) -> Cell
  ) -> Row {
    Row(
      namespace: info.name, limit: name, allowed: cell(info.rules[keyPath: rule]),
      declared: cell(info.declared[keyPath: rule]), override: .optional(override, cell))
  }
}

extension Eviction {
  fileprivate var words: String {
    switch self {
    case .adaptive: "evicts entries with few reads first"
    case .fifo: "evicts the oldest first"
    case .refuse: "refuses writes"
    }
  }
}

extension Limits {
  /// The limits of bytes and entries in words: `1 MB`, `1,000 entries`, or both; nil without a limit.
  var words: String? {
    let parts = [bytes.map(Wording.size), entries.map(Wording.entries)].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
