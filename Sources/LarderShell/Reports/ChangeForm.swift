import Larder
import ShellLanguage

/// The form of changes: a line for a person, a row as data.
struct ChangeForm {
  /// The bytes of a value that a person sees.
  private static let shownOfValue = 200

  let namesNamespaces: Bool
  let hasValues: Bool
  /// The columns of `--show`.
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
