import Larder
import LarderSystem
import ShellLanguage

/// The main loop of the full-screen view: handles keys, reads the store and draws. No snapshot is held during a wait for a key.
///
/// A key that does more than move stops a running read, so that typing is not slow. After the key, the read starts again.
final class BrowseLoop {
  /// The longest wait for a key before the loop looks for commits, and the shortest pause between two reads that changes cause.
  private static let tick = Duration.milliseconds(100)
  /// After a read, the view ignores changes for `quietFactor` times the duration of the read, but at least for a tick.
  private static let quietFactor = 5
  /// The time for which the loop waits after an Escape. Over a slow line, the rest of a key's sequence may arrive late.
  private static let escapeTime = Duration.milliseconds(60)
  /// The shortest interval between two checks for keys during a read.
  private static let lookInterval = Duration.milliseconds(10)

  private let parent: Session
  private let screen: Host.Screen
  private var session: Session!
  private var state: BrowseState
  /// Nil before the first read, after an error, and if the entries must be counted again.
  private var list: BrowseList?
  private var decoder = KeyDecoder()
  private var keys: [KeyPress] = []
  private var shown: Frame?
  private var hasEnded = false
  private var isReading = false
  private var looked = ContinuousClock.now
  private var said: [String] = []
  private var commit: UInt64 = 0
  private var readAt: Timestamp?
  private var quietUntil = Duration.zero
  /// The duration of the last read of the namespaces, which a change causes together with a read of the rows.
  private var reloadTime = Duration.zero

  init(_ name: String?, in parent: Session, on screen: Host.Screen) {
    self.parent = parent
    self.screen = screen
    let path = parent.store.path
    state = BrowseState(
      size: screen.size(), storeName: path.split(separator: "/").last.map(String.init) ?? path,
      isReadOnly: parent.isReadOnly, clock: { parent.wallClock })
    state.query.namespace = name
    var host = Host(
      write: { [unowned self] in said.append(String(decoding: $0, as: UTF8.self)) },
      read: { _ in throw ShellError(.usage, "the view reads no files", hint: nil) },
      make: { _, _ in throw ShellError(.usage, "the view writes no files", hint: nil) })
    host.notify = { [unowned self] in said.append($0.description) }
    host.isInterrupted = { [unowned self] in isInterrupted() }
    host.copy = parent.host.copy
    // The view shows the answers of commands as messages, so the answers must be sentences without color.
    var settings = parent.settings
    (settings.mode, settings.isTerminal, settings.hasColor) = (.table, false, false)
    session = Session(store: parent.store, options: parent.options, settings: settings, host: host)
    // After the view, `undo` takes back the last change of the view.
    session.undo = parent.undo
  }

  func run() throws {
    try reload()
    while !hasEnded {
      while !keys.isEmpty, !hasEnded {
        if let request = state.take(keys.removeFirst()) { try perform(request) }
      }
      guard !hasEnded else { return }
      try draw()
      do { try read() } catch is Interruption {
        // If no key came, a signal may have stopped the read, for example a new window size. This wait handles the signal.
        if keys.isEmpty { try wait(.zero) }
        continue
      }
      // A window that is too small shows no rows, so a request waits until the window is larger.
      let isBusy = !state.isTooSmall && (list?.isCounted == false || state.pending != nil)
      try wait(isBusy ? .zero : Self.tick)
      try lookForChanges()
    }
  }

  private func wait(_ limit: Duration) throws {
    let limit = decoder.isWaiting ? Self.escapeTime : limit
    switch try screen.wait(limit) {
    case .bytes(let bytes): keys += decoder.keys(of: bytes)
    case .redraw: redraw()
    case .timeout: if decoder.isWaiting, limit > .zero { keys += decoder.flush() }
    case .end: hasEnded = true
    }
  }

  /// Whether a read or a change must stop: a read at a key that does more than move, a change at ^C, both at the end of input.
  private func isInterrupted() -> Bool {
    let now = ContinuousClock.now
    guard now - looked >= Self.lookInterval else { return false }
    looked = now
    do { try wait(.zero) } catch { hasEnded = true }
    if hasEnded { return true }
    return isReading
      ? keys.contains { !KeyPress.movements.contains($0) } : keys.contains(.control("c"))
  }

  private func perform(_ request: BrowseRequest) throws {
    switch request {
    case .leave: hasEnded = true
    case .suspend:
      try screen.suspend()
      redraw()
    case .reload:
      try reload()
      (list, state.total, state.value) = (nil, nil, nil)
      state.refresh()
      state.message = BrowseState.Message(text: "read again")
    case .copy(let entry):
      state.message = try answer {
        try CommandReader.command(
          "get", in: [entry.namespace], options: ["--copy"], data: [entry.key.bytes])
      }
    case .change(let change):
      // The change is refused if an entry was removed or written again after its choice, and skips an entry that is written now.
      session.chosen = Dictionary(change.entries.map { (EntryID($0), $0.version) }) { $1 }
      defer { session.chosen = nil }
      let isSame = try change.entries.allSatisfy {
        try session.store.namespace($0.namespace).entry(for: $0.key).map(session.isChosen) ?? false
      }
      let stale = BrowseState.Message(
        text: "the entries have changed; choose them again", isError: true)
      state.message = try isSame ? answer(change.command) : stale
      state.marks = [:]
      state.refresh()
      try reload()
    }
  }

  private func answer(_ command: () throws -> CommandLine) throws -> BrowseState.Message {
    said = []
    do { _ = try session.run(command()) } catch let error as ShellError { return .init(error) }
    return .init(text: SafeText(said.flatMap { $0.split(separator: "\n") }.joined(separator: "; ")))
  }

  private func redraw() {
    shown = nil
    state.size = screen.size()
    state.refresh()
  }

  private func draw() throws {
    let frame = BrowseScreen(state, for: presentation(width: state.size.columns)).frame
    guard frame != shown else { return }
    try screen.write(frame.bytes(over: shown))
    shown = frame
  }

  private func presentation(width: Int) -> Presentation {
    Presentation(
      .table, isTerminal: true, width: width, hasColor: parent.settings.hasColor,
      hasUnicode: parent.settings.hasUnicode, clock: session.wallClock)
  }

  /// Reads and draws everything that the window shows, and counts a part of the list.
  private func read() throws {
    isReading = true
    defer { isReading = false }
    try readRows()
    try readValue()
    try draw()
    guard let list, !list.isCounted, state.pending == nil, keys.isEmpty else { return }
    try list.count()
    guard list.isCounted else { return }
    state.total = list.counted
    if state.firstIndex == nil, state.selected == state.rows.count - 1 {
      state.firstIndex = max(list.counted - state.rows.count, 0)
    }
  }

  private func readRows() throws {
    guard let request = state.pending, !state.isTooSmall else { return }
    do {
      if self.list?.query != state.query { self.list = try BrowseList(state.query, of: session) }
      guard let list else { return }
      let start = ContinuousClock.now - reloadTime
      let (now, last) = (session.clock.now, session.store.lastCommit)
      try read(request, of: list)
      (commit, readAt) = (last, now)
      quietUntil =
        session.clock.monotonic + max(Self.tick, (ContinuousClock.now - start) * Self.quietFactor)
    } catch let error as ShellError {
      list = nil
      state.refuse(error)
    }
  }

  private func read(_ request: BrowseState.PageRequest, of list: BrowseList) throws {
    let rows = state.rows.filter { $0.change != .removed }
    switch request {
    case .top: state.show(try list.rows(state.height), for: request)
    case .bottom: state.show(try list.rows(-state.height), for: request)
    case .scroll(let count):
      let row = count > 0 ? rows.last : rows.first
      state.show(try list.rows(count, from: row?.entry), for: request)
    case .refresh:
      let found = try list.rows(state.height, from: rows.first?.entry, includes: true)
      if found.isEmpty, !rows.isEmpty, state.firstIndex != 0 {
        return state.show(try list.rows(-state.height), for: .bottom)
      }
      let there = Set(found.map { EntryID($0) })
      let removed = try state.rows.map(\.id).filter { id in
        let namespace = session.store.namespace(id.namespace.string)
        return try !there.contains(id)
          && namespace.entry(for: id.key)?.state ?? .expired == .expired
      }
      state.show(
        found, for: request, removed: Set(removed), since: readAt, at: session.clock.monotonic)
    }
  }

  private func readValue() throws {
    guard let entry = state.wanted else {
      state.value = nil
      return
    }
    guard let width = state.valueWidth else { return }
    if let value = state.value, value.entry == entry, value.width == width { return }
    state.value = try BrowseState.ValueText(
      entry, width: width, isWhole: state.page == .value, in: session,
      for: presentation(width: width))
  }

  private func lookForChanges() throws {
    let now = session.clock.monotonic
    let hasRoom = state.fade(at: now)
    guard !state.isPaused else { return }
    if hasRoom { state.refresh() }
    guard state.pending == nil, now >= quietUntil else { return }
    let isExpired = state.rows.contains { row in
      row.change != .removed && (row.entry.expires.map { $0 <= session.clock.now } ?? false)
        && row.entry.staleUntil == nil
    }
    guard session.store.lastCommit != commit || isExpired else { return }
    state.refresh()
    try reload()
  }

  /// Reads the namespaces. If the entries were counted, counts the entries again.
  private func reload() throws {
    let start = ContinuousClock.now
    defer { reloadTime = ContinuousClock.now - start }
    state.namespaces = try session.livingNamespaces(isQuick: true).map { ($0.name, Tally($0)) }
    if let name = state.query.namespace,
      !state.namespaces.contains(where: { $0.name.isExactly(name) })
    {
      state.query.namespace = nil
      state.restart()
    }
    if list?.isCounted == true { list = nil }
  }
}
