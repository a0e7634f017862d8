import Larder
import LarderSystem
import ShellLanguage

/// Shows the changes of a selection as they are committed.
///
/// For a removed entry, only the namespace, key and size are known. A condition on another fact is tested on the entry that is
/// now under the key of a set or update. The condition is false for other changes, and if the key has no entry.
struct Watch {
  /// The time between two reads of the change feed. The feed holds at least a thousand changes. Other processes usually commit
  /// fewer changes in this time, so changes are rarely lost.
  private static let pace = Duration.milliseconds(5)
  /// The most changes that are handled before the next check for ^C and the time limit.
  private static let batch = 500

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
    var looked = 0
    while looked < Self.batch, count + events.count < most, let change = changes.nextNow() {
      looked += 1
      if case .ended(let error) = change.kind { throw error }
      guard var event = ChangeEvent(change), try passes(event) else { continue }
      try complete(&event)
      events.append(event)
    }
    return (events, looked)
  }

  private func passes(_ event: ChangeEvent) throws -> Bool {
    guard
      names.map({ $0.contains(ExactString(event.change.namespace ?? "")) }) ?? true
        || event.kind == .missed,
      events?.contains(event.kind.rawValue) ?? true
    else { return false }
    // A change without a key applies to a whole namespace or the store, and so also to the selected entries.
    guard event.change.key != nil else { return true }
    guard patterns.isEmpty || patterns.contains(where: { event.matches($0) }) else { return false }
    for condition in conditions where try !holds(condition, for: event) { return false }
    return true
  }

  private func holds(_ condition: Expression, for event: ChangeEvent) throws -> Bool {
    if case .keyMatches(let glob) = condition { return event.matches(.glob(glob)) }
    if condition.needsOnly([.key, .namespace, .size]), let size = event.size {
      var input = QueryInput()
      (input.key, input.size) = (event.change.key?.bytes ?? [], size)
      input.namespace = event.change.namespace ?? ""
      return try session.queries.passes(condition, input)
    }
    return try event.lookUp(in: session.store) { entry, value in
      try session.queries.passes(condition, readsResponse: condition.readsResponse, entry, value)
    } ?? false
  }

  /// Adds those fields of the present entry that the answer shows.
  private func complete(_ event: inout ChangeEvent) throws {
    let operands = shown.map(\.operand)
    event.shown = operands.map { _ in .null }
    guard hasValues || !operands.isEmpty else { return }
    let found = try event.lookUp(in: session.store) { entry, value -> ([UInt8]?, [Cell]) in
      let values = operands.isEmpty ? [] : session.queries.columns(operands, entry, value)
      // A negative entry records that no value exists, so there is no value to show.
      return (entry.isNegative || !hasValues ? nil : value.bytes, values.map(\.cell))
    }
    if let found { (event.value, event.shown) = found }
  }
}

extension Expression {
  /// Whether each operand is one of these facts or a constant.
  fileprivate func needsOnly(_ names: Set<QueryName>) -> Bool {
    var isOnly = true
    forEachOperand { isOnly = isOnly && $0.needsOnly(names) }
    return isOnly
  }
}

extension QueryOperand {
  fileprivate func needsOnly(_ names: Set<QueryName>) -> Bool {
    switch self {
    case .name(let name): names.contains(name)
    case .constant: true
    case .call(_, let operand): operand.needsOnly(names)
    case .path: false
    }
  }
}
