import Larder
import ShellLanguage

/// The forms in which changes are shown: a line for a person, or a row of data.
extension Watch {
  /// The most bytes of a value that are quoted in a line. `Quoting.brief` may quote fewer bytes.
  private static let shownOfValue = 200

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
    var (name, missed): (String?, Int?)
    if case .renamed(let other) = change.kind { name = other }
    if case .missed(let count) = change.kind { missed = count }
    let reason = event.kind == .evicted ? change.reason?.name : nil
    let transaction = change.transaction.map { Int(clamping: $0) }
    let expires: Cell = event.expires.map { .expiry($0?.unix) } ?? .blank
    var cells: [Cell] = [
      .optional(change.time?.unix, Cell.time), .text(event.kind.rawValue),
      .optional(change.namespace, Cell.text), .optional(change.key?.bytes, Cell.bytes),
      .optional(change.sizeAfter, Cell.size), .optional(change.sizeBefore, Cell.size),
      expires, .optional(reason, Cell.text),
      .optional(name, Cell.text), .optional(missed, Cell.number), .bool(change.isKeyCut),
      .optional(transaction, Cell.number),
      .optional(change.process, Cell.number),
    ]
    if hasValues { cells.append(.optional(event.value, Cell.bytes)) }
    return cells + event.shown
  }

  /// The line of an event, such as `21:40:03  set     departures "Malmo C:07"  812 B (+14)  expires in 15 min`
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

  /// Words such as `812 B (+14)`.
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
