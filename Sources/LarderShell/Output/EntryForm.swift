import Larder
import ShellLanguage

/// How entries are written as rows.
struct EntryForm {
  let columns: [Column]
  /// All data columns also where output is plain.
  var isLong = false
  let cells: (Store.Entry, WallClock) -> [Cell]
}

extension EntryForm {
  /// The facts of an entry as every command gives them.
  static func record(namesNamespaces: Bool, isLong: Bool = false) -> EntryForm {
    EntryForm(
      columns: [
        Column("namespace", in: namesNamespaces ? [.table, .data] : .data),
        Column("key", holdsBytes: true),
        Column("size", in: [.table, .data]),
        Column("stored", in: .data),
        Column("written", in: .data),
        Column("used", in: .data),
        Column("expires", in: [.table, .data]),
        Column("expires_in", in: .data),
        Column("state", in: .data),
      ],
      isLong: isLong
    ) { entry, clock in
      [
        .text(entry.namespace), .bytes(entry.key.bytes), .size(entry.size), .size(entry.storedSize),
        .time(entry.written.unix), entry.lastUsed.map { .time($0.unix) } ?? .null,
        .expiry(entry.expires?.unix),
        .expiresIn(entry, clock),
        .text(entry.state.rawValue),
      ]
    }
  }

  /// When entries end, and no more.
  static func expiry(namesNamespaces: Bool) -> EntryForm {
    EntryForm(
      columns: [
        Column("namespace", in: namesNamespaces ? [.table, .data] : .data),
        Column("key", title: "", holdsBytes: true),
        Column("expires", title: ""),
        Column("expires_in", in: [.plain, .data]),
      ]
    ) { entry, clock in
      [
        .text(entry.namespace), .bytes(entry.key.bytes), .deadline(entry.expires?.unix),
        .expiresIn(entry, clock),
      ]
    }
  }
}

extension Cell {
  static func owner(_ owner: Owner) -> Cell {
    .entry(namespace: owner.namespace, key: owner.key.bytes)
  }

  static func expiresIn(_ entry: Store.Entry, _ clock: WallClock) -> Cell {
    entry.expires.map { .span($0.unix.since(clock.now)) } ?? .null
  }

  /// How long entries stay by a rule: never, a length of time, a moment, or in words.
  static func lifetime(_ expiration: Expiration) -> Cell {
    switch expiration {
    case .never: .expiry(nil)
    case .after(let duration): .span(duration.milliseconds)
    case .at(let moment): .expiry(moment.unix)
    case .daily(let time, let zone): .text("daily at \(time) \(zone)")
    case .afterAccess(let interval):
      .text("\(Wording.span(interval.milliseconds)) after last use")
    }
  }
}
