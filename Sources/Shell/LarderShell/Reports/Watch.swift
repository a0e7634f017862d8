import Larder
import LarderSystem
import ShellLanguage

/// Shows each change of a selection soon after its commit.
///
/// For a removed entry, only the namespace, key and size are known. A condition on another fact is tested on the entry that is
/// now under the key of a set or update. For other changes, and if the key has no entry, the condition is false.
struct Watch {
  /// The time between two reads of the change feed. The feed holds at least a thousand changes, so changes are rarely lost.
  private static let pace = Duration.milliseconds(5)
  /// The most changes that are handled before the next check for ^C and the time limit.
  private static let batch = 500
  /// After this many bytes of values, the events so far are shown, so that a slow reader does not make the process large.
  private static let mostBytes = 4_000_000

  private let session: Session
  private let names: Set<ExactString>?
  private let events: Set<String>?
  private let patterns: [Selection.Pattern]
  private let conditions: [Expression]
  let namesNamespaces: Bool
  let hasValues: Bool
  let shown: [QueryColumn]
  private let changes: Changes.Iterator
  private let most: Int
  private(set) var count = 0

  /// - Parameter names: The namespaces to watch. Nil for all namespaces.
  init(_ call: Invocation, names: Set<ExactString>?, in session: Session) throws {
    let selection = call.selection!
    guard !selection.isArranged, selection.input == nil else {
      throw ShellError(
        .usage, "changes come in their own order, one after the other",
        hint: "--count N ends after so many")
    }
    self.session = session
    self.names = names
    events = call.choices("--events").map { Set($0) }
    patterns = selection.patterns
    conditions = selection.conditions
    changes = session.store.changes(in: names?.count == 1 ? names!.first?.string : nil)
      .makeAsyncIterator()
    namesNamespaces = names?.count != 1
    hasValues = call.has("--values")
    shown = call.columns("--show") ?? []
    most = call.number("--count") ?? .max
  }

  /// Shows changes until the time `end`, or until enough changes were shown. Returns true if ^C stopped the watch.
  mutating func run(until end: Duration?) throws -> Bool {
    try session.output.rows(columns, areEndless: true) { write in
      while count < most {
        let (events, looked) = try nextEvents()
        count += events.count
        if session.output.isTable {
          let clock = session.wallClock
          try session.output.writeLines(events.map { line($0, clock) })
        } else {
          try write(events.map { cells($0) })
        }
        let left = end.map { $0 - session.clock.monotonic }
        if session.host.isInterrupted() { return true }
        if left.map({ $0 <= .zero }) ?? false || count >= most { return false }
        if looked < Self.batch, try !session.host.pause(min(left ?? Self.pace, Self.pace)) {
          return true
        }
      }
      return false
    }
  }

  private func nextEvents() throws -> (events: [ChangeEvent], looked: Int) {
    var events: [ChangeEvent] = []
    var (looked, room) = (0, Self.mostBytes)
    while looked < Self.batch, room > 0, count + events.count < most, let change = changes.nextNow()
    {
      looked += 1
      if case .ended(let error) = change.kind { throw error }
      guard var event = ChangeEvent(change), try passes(event) else { continue }
      try complete(&event)
      room -= max(event.value?.count ?? 0, shown.isEmpty ? 0 : event.size ?? 0)
      events.append(event)
    }
    // After enough bytes the next changes follow without a pause, as after a whole batch.
    return (events, room > 0 ? looked : Self.batch)
  }

  private func passes(_ event: ChangeEvent) throws -> Bool {
    guard event.isIn(names), events?.contains(event.kind.rawValue) ?? true else { return false }
    // A change without a key applies to a whole namespace or the store, and so also to the selected entries.
    guard event.change.key != nil else { return true }
    guard patterns.isEmpty || patterns.contains(where: { event.matches($0) }) else { return false }
    for condition in conditions where try !holds(condition, for: event) { return false }
    return true
  }

  private func holds(_ condition: Expression, for event: ChangeEvent) throws -> Bool {
    if case .keyMatches(let glob) = condition { return event.matches(.glob(glob)) }
    if condition.needsOnly([.key, .namespace, .size]), event.size != nil {
      return try session.queries.passes(condition, event)
    }
    return try event.lookUp(in: session.store, readsValue: condition.readsValue) { entry, value in
      try session.queries.passes(condition, entry, value)
    } ?? false
  }

  /// Adds those fields of the present entry that the answer shows.
  private func complete(_ event: inout ChangeEvent) throws {
    let operands = shown.map(\.operand)
    event.shown = operands.map { _ in .null }
    guard hasValues || !operands.isEmpty else { return }
    let readsValue = hasValues || operands.contains(where: \.readsValue)
    let found = try event.lookUp(in: session.store, readsValue: readsValue) {
      entry, value -> ([UInt8]?, [Cell]) in
      let values = operands.isEmpty ? [] : session.queries.columns(operands, entry, value)
      // A negative entry records that no value exists, so there is no value to show.
      return (entry.isNegative || !hasValues ? nil : value.bytes, values.map(\.cell))
    }
    if let found { (event.value, event.shown) = found }
  }

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
    let reason = event.kind == .evicted ? change.reason?.texts.name : nil
    let transaction = change.transaction.map { Int(clamping: $0) }
    let expires: Cell = event.leavesEntry ? .expiry(change.expires?.unix) : .blank
    var cells: [Cell] = [
      .optional(change.time?.unix, Cell.time), .text(event.kind.rawValue),
      .optional(change.namespace, Cell.text), .optional(change.key?.bytes, Cell.bytes),
      .optional(change.sizeAfter, Cell.size), .optional(change.sizeBefore, Cell.size),
      expires, .optional(reason, Cell.text),
      .optional(name, Cell.text), .optional(missed, Cell.number), .bool(change.isKeyCut),
      .optional(transaction, Cell.number), .optional(change.process, Cell.number),
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
      event.change.expires.map { "expires \(clock.expiry($0.unix))" } ?? "never expires"
    case .removed(let reason): reason.texts.words.map { "\($0)" }
    case .cleared: "all entries"
    case .renamed(let name): "to \(name)"
    case .missed(let count):
      "\(count.map { Wording.count($0, "change", "changes") } ?? "some changes") went by unseen"
    case .health(let health): "\(health.words)"
    case .ended: nil
    }
  }
}

extension Expression {
  /// Whether each operand is a constant or one of the facts `names`.
  fileprivate func needsOnly(_ names: Set<QueryName>) -> Bool {
    operands.map(\.source).allSatisfy { operand in
      if case .constant = operand { true } else { names.contains { operand == .name($0) } }
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
