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
      firstIndex = total.map { max($0 - rows.count, 0) }
    case .scroll(let count) where count > 0:
      let all = rows + new
      rows = all.suffix(height)
      firstIndex = firstIndex.map { $0 + all.count - rows.count }
      selected = max(rows.count - 1, 0)
    case .scroll:
      rows = Array((new + rows).prefix(height))
      firstIndex = firstIndex.map { max($0 - new.count, 0) }
      selected = 0
    case .refresh:
      replace(with: new, removed, since, now)
      selected = rows.firstIndex { $0.id == former } ?? min(selected, max(rows.count - 1, 0))
      // The next key applies to the selected row, so a removed row is not selected while another row is left.
      let living = rows.indices.filter { rows[$0].change != .removed }
      if !living.contains(selected) {
        selected = living.first { $0 > selected } ?? living.last ?? selected
      }
    }
    if selectedRow?.id != former { valueTop = 0 }
  }

  /// Replaces the rows, and marks new, changed and removed rows. A removed row stays visible in its place for a moment.
  private mutating func replace(
    with new: [Row], _ removed: Set<EntryID>, _ since: Timestamp?, _ now: Duration
  ) {
    let old = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    var merged = new.map { row in
      var row = row
      let before = old[row.id]
      if let before, !before.entry.differs(from: row.entry), before.change != .removed {
        if before.fades > now { (row.change, row.fades) = (before.change, before.fades) }
      } else if before != nil || since.map({ row.entry.written >= $0 }) == true {
        (row.change, row.fades) = (before == nil ? .added : .changed, now + Self.fading)
      }
      return row
    }
    for (index, row) in rows.enumerated() where removed.contains(row.id) {
      var gone = row
      if row.change != .removed { (gone.change, gone.fades) = (.removed, now + Self.fading) }
      if gone.fades > now { merged.insert(gone, at: min(index, merged.count)) }
      marks[row.id] = nil
    }
    rows = Array(merged.prefix(height))
  }

  /// Removes the marks whose time is over, and the rows with the mark `removed`. Returns whether a row was removed.
  mutating func fade(at now: Duration) -> Bool {
    let before = rows.count
    for index in rows.indices.reversed() where rows[index].change != nil && rows[index].fades <= now
    {
      if rows[index].change == .removed {
        rows.remove(at: index)
        if selected > index { selected -= 1 }
      } else {
        rows[index].change = nil
      }
    }
    selected = min(selected, max(rows.count - 1, 0))
    return rows.count < before
  }
}

extension Store.Entry {
  /// Whether the entry was written, or got another expiry or pin, after `other` was read.
  fileprivate func differs(from other: Store.Entry) -> Bool {
    (version, expires, isPinned, written)
      != (other.version, other.expires, other.isPinned, other.written)
  }
}
