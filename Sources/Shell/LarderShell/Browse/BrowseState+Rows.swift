import Larder
import ShellLanguage

/// The list: how rows that were read take their places.
extension BrowseState {
  /// How long a change is marked.
  private static let fading = Duration.seconds(2)

  /// Selects another row, reading rows if it is outside the window.
  mutating func move(by count: Int) {
    var target = selected + count
    switch pending {
    case .down(let rows): target = self.rows.count - 1 + rows + count
    case .up(let rows): target = count - rows
    case .top, .bottom, .refresh, nil: break
    }
    guard target >= 0 else {
      pending = .up(-target)
      return
    }
    guard target < rows.count else {
      selected = max(rows.count - 1, 0)
      pending = rows.isEmpty ? pending : .down(target - rows.count + 1)
      return
    }
    if case .down = pending { pending = nil }
    if case .up = pending { pending = nil }
    selected = target
  }

  /// Shows another list from its beginning.
  mutating func restart() {
    pending = .top
    total = nil
    value = nil
    valueTop = 0
  }

  /// Takes the rows that were read for a request.
  ///
  /// - Parameters:
  ///   - removed: Rows of the window that exist no more.
  ///   - since: When the window was read last, by the clock of the store.
  mutating func show(
    _ found: [Ranked], for request: PageRequest, removed: Set<EntryID> = [],
    since: Timestamp? = nil, at now: Duration = .zero
  ) {
    pending = nil
    let former = selectedRow?.id
    let new = found.map { Row(ranked: $0) }
    switch request {
    case .top:
      rows = new
      selected = 0
      firstIndex = 0
    case .bottom:
      rows = new
      selected = max(rows.count - 1, 0)
      firstIndex = total.map { max($0 - rows.count, 0) }
    case .down:
      let all = rows + new
      rows = Array(all.suffix(max(height, 1)))
      firstIndex = firstIndex.map { $0 + all.count - rows.count }
      selected = max(rows.count - 1, 0)
    case .up:
      rows = Array((new + rows).prefix(max(height, 1)))
      firstIndex = firstIndex.map { max($0 - new.count, 0) }
      selected = 0
    case .refresh:
      refresh(with: new, removed, since, now)
      if let former, let index = rows.firstIndex(where: { $0.id == former }) { selected = index }
      selected = min(selected, max(rows.count - 1, 0))
      leaveRemovedRow()
    }
    if selectedRow?.id != former { valueTop = 0 }
  }

  /// The next key concerns an entry that exists.
  private mutating func leaveRemovedRow() {
    guard selectedRow?.change == .removed else { return }
    let living = rows.indices.filter { rows[$0].change != .removed }
    selected = living.first { $0 > selected } ?? living.last ?? selected
  }

  /// Marks new, changed and removed rows. A removed row stays in its place for a moment.
  private mutating func refresh(
    with new: [Row], _ removed: Set<EntryID>, _ since: Timestamp?, _ now: Duration
  ) {
    let old = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    var merged = new
    for index in merged.indices {
      let row = merged[index]
      if let before = old[row.id] {
        if before.entry.differs(from: row.entry) || before.change == .removed {
          merged[index].change = .changed
          merged[index].fades = now + Self.fading
        } else if before.fades > now {
          merged[index].change = before.change
          merged[index].fades = before.fades
        }
      } else if let since, row.entry.written >= since {
        merged[index].change = .added
        merged[index].fades = now + Self.fading
      }
    }
    for (index, row) in rows.enumerated() where removed.contains(row.id) {
      var gone = row
      if row.change != .removed {
        gone.change = .removed
        gone.fades = now + Self.fading
      }
      guard gone.fades > now else { continue }
      merged.insert(gone, at: min(index, merged.count))
    }
    rows = Array(merged.prefix(max(height, 1)))
    for id in removed { marks[id] = nil }
  }

  /// Ends marks of changes; true if a row went, so that another one has room.
  mutating func fade(at now: Duration) -> Bool {
    var went = false
    for index in rows.indices.reversed() where rows[index].change != nil && rows[index].fades <= now
    {
      if rows[index].change == .removed {
        rows.remove(at: index)
        if selected > index { selected -= 1 }
        went = true
      } else {
        rows[index].change = nil
      }
    }
    selected = min(selected, max(rows.count - 1, 0))
    return went
  }
}

extension Store.Entry {
  /// It was written or given other attributes since.
  fileprivate func differs(from other: Store.Entry) -> Bool {
    (version, expires, isPinned, written) != (
      other.version, other.expires, other.isPinned, other.written
    )
  }
}
