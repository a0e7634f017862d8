import Larder
import LarderSystem
import ShellLanguage

/// Tests whether a change belongs to a selection.
///
/// Of a removed entry only key and size are known, so other filters are refused. A condition of `--where` is tested on the
/// entry that is there now; without one it is false.
struct ChangeTest {
  private let names: Set<ExactString>?
  private let events: Set<String>?
  private let patterns: [Selection.Pattern]
  private var conditions: [(ChangeEvent) throws -> Bool] = []

  /// - Parameters:
  ///   - names: The namespaces; nil is all.
  ///   - events: The kinds; nil is all.
  init(
    _ selection: Selection, names: Set<ExactString>?, events: Set<String>?, in store: Store,
    _ queries: QueryRun
  ) throws(ShellError) {
    self.names = names
    self.events = events
    patterns = selection.patterns
    for filter in selection.filters {
      conditions.append(try Self.condition(filter, store, queries))
    }
    guard selection.sort == nil, !selection.isReversed, selection.limit == nil,
      selection.after == nil, selection.input == nil
    else {
      throw ShellError(
        .usage, "changes come in their own order, one after the other",
        hint: "--count N ends after so many")
    }
  }

  func passes(_ event: ChangeEvent) throws -> Bool {
    guard
      names.map({ $0.contains(ExactString(event.change.namespace ?? "")) }) ?? true
        || event.kind == .missed,
      events?.contains(event.kind.rawValue) ?? true
    else { return false }
    // A change of a whole namespace concerns the selected entries, too.
    guard event.change.key != nil else { return true }
    guard patterns.isEmpty || patterns.contains(where: { event.matches($0) }) else { return false }
    for condition in conditions where try !condition(event) { return false }
    return true
  }

  private static func condition(
    _ filter: Selection.Filter, _ store: Store, _ queries: QueryRun
  ) throws(ShellError) -> (ChangeEvent) throws -> Bool {
    switch filter {
    case .match(let glob):
      return { $0.matches(.glob(glob)) }
    case .regex(let regex):
      let matcher = regex.matcher(queries.pause)
      return { event in try event.change.key.map { try matcher.matches($0.bytes) } ?? false }
    case .larger(let size):
      return { event in event.size.map { $0 > size } ?? false }
    case .smaller(let size):
      return { event in event.size.map { $0 < size } ?? false }
    case .query(let expression):
      let readsResponse = expression.readsResponse
      return { event in
        try event.lookUp(in: store) { entry, value in
          try queries.passes(expression, readsResponse: readsResponse, entry, value)
        } ?? false
      }
    case .tag, .contains, .expiring, .expired, .permanent, .older, .newer, .idle:
      throw ShellError(
        .usage, "of what has gone only key and size are known",
        hint: "watch takes keys, patterns, --match, --regex, --larger, --smaller and --where")
    }
  }
}
