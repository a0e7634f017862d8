import Larder
import LarderSystem
import ShellLanguage

/// The loop of the full-screen view: keys, reads, drawing.
///
/// A read lasts at most until the next key that is no movement, so that typing is never slow; it begins again
/// after the key. No snapshot is held while the view waits.
final class BrowseLoop {
  /// The interval between two looks at the change feed, and the longest between a key and its effect elsewhere.
  private static let tick = Duration.milliseconds(100)
  /// The time after an Escape in which the rest of a key's sequence comes, also over a slow line.
  private static let escapeTime = Duration.milliseconds(60)
  /// Windows are read again for changes at most this share of the time.
  private static let quietFactor = 5
  /// The interval between two looks for keys during a read.
  private static let lookInterval = Duration.milliseconds(10)

  private let parent: Session
  let screen: Host.Screen
  var session: Session!
  var state: BrowseState
  var reader: BrowseReader
  private var read: BrowseQuery
  private var decoder = KeyDecoder()
  private var keys: [KeyPress] = []
  var shown: Frame?
  var hasEnded = false
  private var isReading = false
  private var looked = ContinuousClock.now
  /// The answer of a command, for the last line.
  var said: [String] = []
  private var commit: UInt64 = 0
  private var readAt: Timestamp?
  private var quietUntil = Duration.zero

  init(_ name: String?, in parent: Session, on screen: Host.Screen) throws {
    self.parent = parent
    self.screen = screen
    let path = parent.store.path
    var state = BrowseState(
      size: screen.size(), storeName: path.split(separator: "/").last.map(String.init) ?? path,
      isReadOnly: parent.isReadOnly)
    state.query.namespace = name
    self.state = state
    read = state.query
    reader = try BrowseReader(state.query, of: parent)
    var host = Host(
      write: { [unowned self] in said.append(String(decoding: $0, as: UTF8.self)) },
      read: { _ in throw FileProblem.notPermitted },
      make: { _, _ in throw FileProblem.notPermitted })
    host.notify = { [unowned self] in said.append($0.description) }
    host.isInterrupted = { [unowned self] in isInterrupted() }
    host.copy = parent.host.copy
    // The answers of commands come as sentences.
    var settings = parent.settings
    (settings.mode, settings.isTerminal, settings.hasColor) = (.table, false, false)
    session = Session(
      store: parent.store, options: parent.options, settings: settings, host: host)
  }

  func run() throws {
    try reload()
    while !hasEnded {
      while let key = keys.first {
        keys.removeFirst()
        guard let command = state.take(key) else { continue }
        if command == .leave { return }
        try perform(command)
      }
      try draw()
      do {
        try readRows()
        try readValue()
        try draw()
        try countSome()
      } catch is Interruption {
        // The interrupt may be a signal that no wait has found yet.
        if keys.isEmpty { try wait(.zero) }
        continue
      }
      try wait(reader.total == nil || state.pending != nil ? .zero : Self.tick)
      try lookForChanges()
    }
  }

  // MARK: Input

  private func wait(_ limit: Duration) throws {
    var limit = limit
    if decoder.isWaiting { limit = Self.escapeTime }
    switch try screen.wait(limit) {
    case .bytes(let bytes): keys += decoder.keys(of: bytes)
    case .redraw:
      shown = nil
      state.size = screen.size()
      if state.pending == nil { state.pending = .refresh }
    case .timeout: if decoder.isWaiting, limit > .zero { keys += decoder.flush() }
    case .end: hasEnded = true
    }
  }

  /// A read is interrupted by a key that does not only move, a change by ^C.
  private func isInterrupted() -> Bool {
    let now = ContinuousClock.now
    guard now - looked >= Self.lookInterval else { return false }
    looked = now
    do { try wait(.zero) } catch { hasEnded = true }
    if hasEnded { return true }
    return isReading ? keys.contains { !$0.isMovement } : keys.contains(.control("c"))
  }

  // MARK: Reading

  private func readRows() throws {
    guard let request = state.pending, !state.isTooSmall else { return }
    isReading = true
    defer { isReading = false }
    do {
      if read != state.query {
        reader = try BrowseReader(state.query, of: session)
        read = state.query
      }
      let start = ContinuousClock.now
      let now = session.clock.now
      let last = session.store.lastCommit
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
    case .top: state.show(try reader.rows(after: nil, state.height), for: request)
    case .bottom: state.show(try reader.rows(before: nil, state.height), for: request)
    case .down(let count):
      state.show(try reader.rows(after: rows.last?.ranked, count), for: request)
    case .up(let count):
      state.show(try reader.rows(before: rows.first?.ranked, count), for: request)
    case .refresh:
      let found = try reader.rows(after: rows.first?.ranked, includes: true, state.height)
      if found.isEmpty, !rows.isEmpty, state.firstIndex != 0 {
        return state.show(try reader.rows(before: nil, state.height), for: .bottom)
      }
      let there = Set(found.map { EntryID($0.entry) })
      let removed = try state.rows.filter { row in
        try !there.contains(row.id) && reader.isGone(row.entry)
      }
      state.show(
        found, for: request, removed: Set(removed.map(\.id)), since: readAt,
        at: session.clock.monotonic)
    }
  }

  private func readValue() throws {
    let isWhole = state.page == .value
    guard let entry = state.wanted else {
      state.value = nil
      return
    }
    if state.showsOnePane, state.pane != .value, !isWhole { return }
    let width = max(state.valueWidth - (isWhole ? 0 : 1), 1)
    if let value = state.value, value.entry == entry, value.width == width,
      value.isWhole == isWhole
    {
      return
    }
    isReading = true
    defer { isReading = false }
    state.value = try BrowseState.ValueText(
      entry, width: width, isWhole: isWhole, in: session, for: presentation(width: width))
  }

  /// Counts the list, some entries at a time.
  private func countSome() throws {
    guard reader.total == nil, state.pending == nil, keys.isEmpty else { return }
    isReading = true
    defer { isReading = false }
    try reader.count()
    guard let total = reader.total else { return }
    state.total = total
    if state.firstIndex == nil, state.selected == state.rows.count - 1 {
      state.firstIndex = max(total - state.rows.count, 0)
    }
  }

  private func lookForChanges() throws {
    let now = session.clock.monotonic
    if state.fade(at: now), state.pending == nil { state.pending = .refresh }
    guard !state.isPaused, state.pending == nil, now >= quietUntil else { return }
    let isExpired = state.rows.contains { row in
      row.change != .removed && (row.entry.expires.map { $0 <= session.clock.now } ?? false)
        && row.entry.staleUntil == nil
    }
    guard session.store.lastCommit != commit || isExpired else { return }
    state.pending = .refresh
    try reload()
    if reader.total != nil { try reader.recount() }
  }

  func reload() throws {
    state.namespaces = try session.store.namespaces().map {
      BrowseState.NamespaceRow(name: $0.name, entries: $0.entries, bytes: $0.bytes)
    }
    if let name = state.query.namespace,
      !state.namespaces.contains(where: { $0.name.isExactly(name) })
    {
      state.query.namespace = nil
      state.restart()
    }
  }

  // MARK: Drawing

  private func draw() throws {
    let frame = BrowseScreen(state: state, presentation: presentation(width: state.size.columns))
      .frame()
    guard frame != shown else { return }
    try screen.write(frame.bytes(over: shown))
    shown = frame
  }

  private func presentation(width: Int) -> Presentation {
    Presentation(
      .table, isTerminal: true, width: width, hasColor: parent.settings.hasColor,
      hasUnicode: parent.settings.hasUnicode, clock: session.wallClock)
  }
}
