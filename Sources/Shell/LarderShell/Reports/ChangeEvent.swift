import Larder
import ShellLanguage

struct ChangeEvent {
  enum Kind: String, CaseIterable {
    case set, updated, expired, evicted, cleared, renamed, missed, health
  }

  let kind: Kind
  let change: Change
  /// The expiry that a set or an update gave the entry, `.some(nil)` for never; nil for other events.
  let expires: Timestamp??
  private(set) var value: [UInt8]?
  private(set) var shown: [Cell] = []

  /// Makes the event of a change; nil for the end of the changes.
  init?(_ change: Change) {
    self.change = change
    expires = [.set, .touched].contains(change.kind) ? .some(change.expires) : nil
    switch change.kind {
    case .set: kind = .set
    case .touched: kind = .updated
    case .removed(.expired): kind = .expired
    case .removed: kind = .evicted
    case .cleared: kind = .cleared
    case .renamed: kind = .renamed
    case .missed: kind = .missed
    case .health: kind = .health
    case .ended: return nil
    }
  }

  /// The size of the value; for a removed entry the size of its last value.
  var size: Int? { change.sizeAfter ?? change.sizeBefore }

  /// Whether the key matches. If the key is cut, only a prefix can be compared.
  func matches(_ pattern: Selection.Pattern) -> Bool {
    guard let key = change.key?.bytes else { return false }
    guard change.isKeyCut else { return pattern.matches(key) }
    return switch pattern {
    case .key(let whole): whole.starts(with: key)
    case .glob(let glob): glob.prefix.starts(with: key) || glob.matches(key)
    }
  }

  /// The event with the fields of the present entry that the form shows.
  func completed(
    for form: ChangeForm, from store: Store, _ queries: QueryRun
  ) throws -> ChangeEvent {
    var event = self
    event.shown = form.shown.map { _ in Cell.null }
    guard form.hasValues || !form.shown.isEmpty else { return event }
    try lookUp(in: store) { entry, value in
      // A negative entry has no value.
      event.value = entry.isNegative || !form.hasValues ? nil : value.bytes
      guard !form.shown.isEmpty else { return }
      event.shown = queries.columns(form.shown.map(\.operand), entry, value)
        .map(\.cell)
    }
    return event
  }

  /// Lends the present entry under the key of a set or update; nil for other events, for a cut key, and if the entry is gone.
  @discardableResult
  func lookUp<Result>(
    in store: Store, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    guard kind == .set || kind == .updated, !change.isKeyCut, let key = change.key,
      let name = change.namespace
    else { return nil }
    return try store.namespace(name).lookUp(key.bytes, body)
  }
}

extension RemovalReason {
  var name: String {
    switch self {
    case .expired: "expired"
    case .evictedForEntries: "entry_limit"
    case .evictedForBytes: "byte_limit"
    case .evictedForStoreEntries: "store_entry_limit"
    case .evictedForStoreBytes: "store_byte_limit"
    case .evictedForDisk: "disk_limit"
    case .orphaned: "owner_removed"
    case .removed: "removed"
    case .replaced: "replaced"
    case .cleared: "cleared"
    case .invalidated: "invalidated"
    case .damaged: "damaged"
    }
  }

  /// The reason for a person; nil if the event already names the reason.
  var words: String? {
    switch self {
    case .expired, .removed, .cleared: nil
    case .evictedForEntries: "entry limit"
    case .evictedForBytes: "byte limit"
    case .evictedForStoreEntries: "entry limit of the store"
    case .evictedForStoreBytes: "byte limit of the store"
    case .evictedForDisk: "disk limit"
    case .orphaned: "owner removed"
    case .replaced: "replaced"
    case .invalidated: "invalidated by tag"
    case .damaged: "damaged"
    }
  }
}

/// The form of changes: a line for a person, or a row of data.
struct ChangeForm {
  /// The most bytes of a value that a line quotes. `Quoting.brief` then cuts long values further.
  private static let shownOfValue = 200

  let namesNamespaces: Bool
  let hasValues: Bool
  let shown: [QueryColumn]

  var columns: [Column] {
    [
      Column("time"), Column("event"), Column("namespace"), Column("key", holdsBytes: true),
      Column("size"), Column("size_before", in: .data), Column("expires", in: .data),
      Column("reason", in: .data), Column("renamed_to", in: .data), Column("missed", in: .data),
      Column("key_is_cut", in: .data), Column("transaction", in: .data),
      Column("process", in: .data),
    ] + (hasValues ? [Column("value", holdsBytes: true)] : [])
      + shown.map { Column($0.label, group: "show") }
  }

  func cells(_ event: ChangeEvent) -> [Cell] {
    let change = event.change
    func size(_ size: Int?) -> Cell { size.map { .size($0) } ?? .null }
    func number(_ number: Int?) -> Cell { number.map { .number($0) } ?? .null }
    var (name, missed): (String?, Int?)
    if case .renamed(let other) = change.kind { name = other }
    if case .missed(let count) = change.kind { missed = count }
    func text(_ text: String?) -> Cell { text.map { .text($0) } ?? .null }
    func bytes(_ bytes: [UInt8]?) -> Cell { bytes.map { .bytes($0) } ?? .null }
    let time: Cell = change.time.map { .time($0.unix) } ?? .null
    let expires: Cell = event.expires.map { .expiry($0?.unix) } ?? .blank
    var cells: [Cell] = [time, text(event.kind.rawValue), text(change.namespace)]
    cells += [bytes(change.key?.bytes), size(change.sizeAfter), size(change.sizeBefore), expires]
    cells += [text(event.kind == .evicted ? change.reason?.name : nil), text(name), number(missed)]
    cells += [.bool(change.isKeyCut), number(change.transaction.map { Int(clamping: $0) })]
    cells.append(number(change.process))
    if hasValues { cells.append(bytes(event.value)) }
    return cells + event.shown
  }

  /// `21:40:03  set     departures "Malmö C:07"  812 B (+14)  expires in 15 min`
  func line(_ event: ChangeEvent, _ clock: WallClock) -> SafeText {
    let change = event.change
    let time = change.time.map { clock.timeOfDay($0.unix) } ?? "        "
    let kind = DisplayWidth.pad(event.kind.rawValue, to: 7)
    let name: SafeText? = namesNamespaces ? change.namespace.map { "\($0)" } : nil
    let key = change.key.map { SafeText(quoting: $0.bytes) + (change.isKeyCut ? "..." : "") }
    let place = [name, key].compactMap(\.self).joined(separator: " ")
    let fields = zip(shown, event.shown).map { column, cell in
      "\(column.label) \(cell.plain(isName: false))" as SafeText
    }
    let parts: [SafeText?] =
      [
        "\(time)", "\(kind)", place.description.isEmpty ? nil : place, sizes(change),
        remark(event, clock),
        event.value.map { SafeText(quoting: Array($0.prefix(Self.shownOfValue))) },
      ] + fields
    return parts.compactMap(\.self).joined(separator: "  ")
  }

  /// `812 B (+14)`
  private func sizes(_ change: Change) -> SafeText? {
    guard let size = change.sizeAfter ?? change.sizeBefore else { return nil }
    guard let before = change.sizeBefore, let after = change.sizeAfter, before != after else {
      return "\(Wording.size(size))"
    }
    return
      "\(Wording.size(size)) (\(after > before ? "+" : "-")\(Wording.count(abs(after - before))))"
  }

  private func remark(_ event: ChangeEvent, _ clock: WallClock) -> SafeText? {
    switch event.change.kind {
    case .set, .touched:
      event.expires.map { $0 == nil ? "never expires" : "expires \(clock.expiry($0?.unix))" }
    case .removed(let reason): reason.words.map { "\($0)" }
    case .cleared: "all entries"
    case .renamed(let name): "to \(name)"
    case .missed(let count):
      "\(count.map { Wording.count($0, "change", "changes") } ?? "some changes") went by unseen"
    case .health(let health): "\(health.words)"
    case .ended: nil
    }
  }
}

extension StoreHealth {
  fileprivate var words: SafeText {
    switch self {
    case .healthy: "the store's files are in their places"
    case .missing: "the store's files were deleted or moved"
    case .replaced: "another store is at this path"
    case .unwritable(let reason): "the store cannot be written: \(reason)"
    }
  }
}
