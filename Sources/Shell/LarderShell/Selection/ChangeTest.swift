import Larder
import LarderSystem
import ShellLanguage

/// Tests whether a change belongs to a selection.
///
/// For a removed entry, only the namespace, key and size are known. Conditions on other facts use the entry that is now under
/// the key of a set or update. For other changes, and if there is no such entry, these conditions are false.
struct ChangeTest {
  private let names: Set<ExactString>?
  private let events: Set<String>?
  private let patterns: [Selection.Pattern]
  private let conditions: [Expression]
  private let store: Store
  private let queries: QueryRun

  /// If `names` is nil, changes of every namespace pass. If `events` is nil, changes of every kind pass.
  init(
    _ selection: Selection, names: Set<ExactString>?, events: Set<String>?, in store: Store,
    _ queries: QueryRun
  ) throws(ShellError) {
    guard !selection.isArranged, selection.input == nil else {
      throw ShellError(
        .usage, "changes come in their own order, one after the other",
        hint: "--count N ends after so many")
    }
    self.names = names
    self.events = events
    self.store = store
    self.queries = queries
    patterns = selection.patterns
    conditions = selection.conditions
  }

  func passes(_ event: ChangeEvent) throws -> Bool {
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
      return try queries.passes(condition, input)
    }
    return try event.lookUp(in: store) { entry, value in
      try queries.passes(condition, readsResponse: condition.readsResponse, entry, value)
    } ?? false
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
