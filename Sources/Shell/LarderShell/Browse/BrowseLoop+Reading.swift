import Larder
import LarderSystem
import ShellLanguage

extension BrowseLoop {
  /// After a read, the view ignores changes for this factor times the duration of the read, but at least for a tick.
  private static let quietFactor = 5

  func reading(_ body: () throws -> Void) rethrows {
    isReading = true
    defer { isReading = false }
    try body()
  }

  func readRows() throws {
    guard let request = state.pending, !state.isTooSmall else { return }
    do {
      if read != state.query {
        list = try BrowseList(state.query, of: session)
        read = state.query
      }
      let start = ContinuousClock.now
      let (now, last) = (session.clock.now, session.store.lastCommit)
      try read(request)
      (commit, readAt) = (last, now)
      quietUntil =
        session.clock.monotonic
        + max(Self.tick, (ContinuousClock.now - start) * Self.quietFactor)
    } catch let error as ShellError {
      read.filter = "\0"
      state.refuse(error)
    }
  }

  private func read(_ request: BrowseState.PageRequest) throws {
    let rows = state.rows.filter { $0.change != .removed }
    switch request {
    case .top: state.show(try list.rows(after: nil, state.height), for: request)
    case .bottom: state.show(try list.rows(before: nil, state.height), for: request)
    case .scroll(let count) where count > 0:
      state.show(try list.rows(after: rows.last?.entry, count), for: request)
    case .scroll(let count):
      state.show(try list.rows(before: rows.first?.entry, -count), for: request)
    case .refresh:
      let found = try list.rows(after: rows.first?.entry, includes: true, state.height)
      if found.isEmpty, !rows.isEmpty, state.firstIndex != 0 {
        return state.show(try list.rows(before: nil, state.height), for: .bottom)
      }
      let there = Set(found.map { EntryID($0) })
      let removed = try state.rows.filter { row in
        try !there.contains(row.id) && list.isGone(row.entry)
      }
      state.show(
        found, for: request, removed: Set(removed.map(\.id)), since: readAt,
        at: session.clock.monotonic)
    }
  }

  func readValue() throws {
    let isWhole = state.page == .value
    guard let entry = state.wanted else {
      state.value = nil
      return
    }
    if state.showsOnePane, state.pane != .value, !isWhole { return }
    let width = max(state.valueWidth - (isWhole ? 0 : 1), 1)
    if let value = state.value, value.entry == entry,
      (value.width, value.isWhole) == (width, isWhole)
    {
      return
    }
    state.value = try BrowseState.ValueText(
      entry, width: width, isWhole: isWhole, in: session, for: presentation(width: width))
  }

  func countSome() throws {
    guard list.total == nil, state.pending == nil, keys.isEmpty else { return }
    try list.count()
    guard let total = list.total else { return }
    state.total = total
    if state.firstIndex == nil, state.selected == state.rows.count - 1 {
      state.firstIndex = max(total - state.rows.count, 0)
    }
  }

  func lookForChanges() throws {
    let now = session.clock.monotonic
    if state.fade(at: now) { state.refresh() }
    guard !state.isPaused, state.pending == nil, now >= quietUntil else { return }
    let isExpired = state.rows.contains { row in
      row.change != .removed && (row.entry.expires.map { $0 <= session.clock.now } ?? false)
        && row.entry.staleUntil == nil
    }
    guard session.store.lastCommit != commit || isExpired else { return }
    state.refresh()
    try reload()
  }

  func reload() throws {
    state.namespaces = try session.livingNamespaces(isQuick: true).map {
      BrowseState.NamespaceRow(name: $0.name, entries: $0.entries, bytes: $0.bytes)
    }
    if let name = state.query.namespace,
      !state.namespaces.contains(where: { $0.name.isExactly(name) })
    {
      state.query.namespace = nil
      state.restart()
    }
    if list.total != nil { try list.recount() }
  }
}
