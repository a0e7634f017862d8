import Larder
import ShellLanguage

struct EntryForm {
  let columns: [Column]
  /// Whether plain output has all data columns, and a table has its columns for `--long`.
  var isLong = false
  var readsValues = false
  /// Whether a row shows parts that ``Store/Entry/withoutExtras`` omits.
  var readsExtras = false
  let row: (Store.Entry, Span<UInt8>, Session) -> [Cell]

  /// The columns of the facts of an entry. Every command that lists entries uses these columns.
  static func record(namesNamespaces: Bool, isLong: Bool = false) -> EntryForm {
    EntryForm(
      columns: [
        Column("namespace", in: namesNamespaces ? [.table, .data] : .data),
        Column("key", holdsBytes: true),
        Column("size", in: [.table, .data]),
        Column("stored", in: [.data, .long]),
        Column("written", in: [.data, .long]),
        Column("used", in: [.data, .long]),
        Column("expires", in: [.table, .data]),
        Column("expires_in", in: .data),
        Column("state", in: [.data, .long]),
      ],
      isLong: isLong
    ) { entry, _, session in facts(entry, session.wallClock) }
  }

  static func facts(_ entry: Store.Entry, _ clock: WallClock) -> [Cell] {
    [
      .text(entry.namespace), .bytes(entry.key.bytes), .size(entry.size), .size(entry.storedSize),
      .time(entry.written.unix), .optional(entry.lastUsed?.unix, Cell.time),
      Cell.staleExpiry(entry) ?? .expiry(entry.expires?.unix), .expiresIn(entry, clock),
      .text(entry.state.rawValue),
    ]
  }

  static func show(_ shown: [QueryColumn]) -> EntryForm {
    let operands = shown.map(\.operand)
    return EntryForm(
      columns: shown.map { Column($0.label, holdsBytes: $0.operand == .name(.key)) },
      readsValues: operands.contains(where: \.readsValue),
      readsExtras: operands.contains(where: \.readsExtras)
    ) { entry, value, session in
      zip(operands, session.queries.columns(operands, entry, value)).map { operand, value in
        // A key need not be UTF-8, so its cell has bytes and not text.
        operand == .name(.key) ? .bytes(entry.key.bytes) : value.cell
      }
    }
  }

  static func expiry(namesNamespaces: Bool) -> EntryForm {
    EntryForm(
      columns: [
        Column("namespace", title: "", in: namesNamespaces ? [.table, .data] : .data),
        Column("key", title: "", holdsBytes: true),
        Column("expires", title: ""),
        Column("expires_in", in: [.plain, .data]),
      ]
    ) { entry, _, session in
      [
        .text(entry.namespace), .bytes(entry.key.bytes),
        Cell.staleExpiry(entry) ?? .deadline(entry.expires?.unix),
        .expiresIn(entry, session.wallClock),
      ]
    }
  }
}

extension Cell {
  static func optional<Value>(_ value: Value?, _ cell: (Value) -> Cell) -> Cell {
    value.map(cell) ?? .null
  }

  static func owner(_ owner: Owner) -> Cell {
    .entry(namespace: owner.namespace, key: owner.key.bytes)
  }

  /// The cell for the expiry of a stale entry (expired, but may still be served). Nil for other states.
  static func staleExpiry(_ entry: Store.Entry) -> Cell? {
    entry.state == .stale ? entry.expires.map { .stale($0.unix) } : nil
  }

  static func expiresIn(_ entry: Store.Entry, _ clock: WallClock) -> Cell {
    .optional(entry.expires?.unix.since(clock.now), Cell.span)
  }

  /// The lifetime that a rule gives to entries: `never`, a duration, a time, or words.
  static func lifetime(_ expiration: Expiration) -> Cell {
    switch expiration {
    case .never: .expiry(nil)
    case .after(let duration): .span(duration.milliseconds)
    case .at(let moment): .expiry(moment.unix)
    case .daily(let time, let zone): .text("daily at \(time) \(zone)")
    case .afterAccess(let interval): .text("\(Wording.span(interval.milliseconds)) after last use")
    }
  }
}
