import Larder
import ShellLanguage

extension BrowseState {
  private static let fading = Duration.seconds(2)

  /// Selects another row. If this row is outside the window, requests further rows.
  mutating func move(by count: Int) {
    var target = selected + count
    if case .scroll(let rows) = pending { target += rows }
    if rows.indices.contains(target) {
      if case .scroll = pending { pending = nil }
      selected = target
    } else if !rows.isEmpty {
      selected = target < 0 ? 0 : rows.count - 1
      pending = .scroll(target - selected)
    }
  }

  /// Requests the first rows of the list, because the query is new.
  mutating func restart() { (pending, total, value, valueTop) = (.top, nil, nil, 0) }

  mutating func refresh() { pending = pending ?? .refresh }

  /// - Parameter since: The time of the last read, by the store's clock. Entries that were written after `since` get a mark.
  mutating func show(
    _ found: [Store.Entry], for request: PageRequest, removed: Set<EntryID> = [],
    since: Timestamp? = nil, at now: Duration = .zero
  ) {
    pending = nil
    let former = selectedRow?.id
    let new = found.map { Row(entry: $0) }
    switch request {
    case .top: (rows, selected, firstIndex) = (new, 0, 0)
    case .bottom:
      (rows, selected) = (new, max(new.count - 1, 0))
      firstIndex = total.map { max($0 - new.count, 0) }
    case .scroll(let count):
      let isDown = count > 0
      let all = isDown ? rows + new : new + rows
      rows = Array(isDown ? all.suffix(height) : all.prefix(height))
      firstIndex = firstIndex.map { isDown ? $0 + all.count - rows.count : max($0 - new.count, 0) }
      selected = isDown ? max(rows.count - 1, 0) : 0
    case .refresh:
      replace(with: found, removed, since, now)
      let target = rows.firstIndex { $0.id == former } ?? selected
      // The next key applies to the selected row, so a removed row is not selected while another row is left.
      let living = rows.indices.filter { rows[$0].change != .removed }
      selected = living.first { $0 >= target } ?? living.last ?? min(target, max(rows.count - 1, 0))
    }
    if selectedRow?.id != former { valueTop = 0 }
  }

  /// Replaces the rows, and marks new, changed and removed rows. A removed row stays visible in its place for a moment.
  private mutating func replace(
    with found: [Store.Entry], _ removed: Set<EntryID>, _ since: Timestamp?, _ now: Duration
  ) {
    let old = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    let fades = now + Self.fading
    var merged = found.map { entry -> Row in
      guard let before = old[EntryID(entry)] else {
        let isNew = since.map { entry.written >= $0 } ?? false
        return Row(entry: entry, change: isNew ? .added : nil, fades: fades)
      }
      let former = before.entry
      let isSame =
        (former.version, former.expires, former.isPinned)
        == (entry.version, entry.expires, entry.isPinned)
      guard isSame, before.change != .removed else {
        return Row(entry: entry, change: .changed, fades: fades)
      }
      return Row(
        entry: entry, change: before.fades > now ? before.change : nil, fades: before.fades)
    }
    for (index, row) in rows.enumerated() where removed.contains(row.id) {
      let gone =
        row.change == .removed ? row : Row(entry: row.entry, change: .removed, fades: fades)
      if gone.fades > now { merged.insert(gone, at: min(index, merged.count)) }
      marks[row.id] = nil
    }
    rows = Array(merged.prefix(height))
  }

  /// Removes the marks whose time is over, and the rows with the mark `removed`. Returns whether a row was removed.
  mutating func fade(at now: Duration) -> Bool {
    func isOver(_ row: Row) -> Bool { row.change == .removed && row.fades <= now }
    let (place, count) = (rows.prefix(selected).count { !isOver($0) }, rows.count)
    rows.removeAll(where: isOver)
    for index in rows.indices where rows[index].fades <= now { rows[index].change = nil }
    selected = min(place, max(rows.count - 1, 0))
    return rows.count < count
  }
}
