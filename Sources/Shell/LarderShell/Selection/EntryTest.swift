import Larder
import ShellLanguage

/// Tests whether an entry belongs to a selection. Walks cannot share the matchers of expressions, so each walk has its own test.
struct EntryTest {
  private let queries: QueryRun
  private let patterns: [Selection.Pattern]
  /// The conditions that need no value of the entry; nil for no condition.
  private let facts: Expression?
  private let values: Expression?

  init(_ selection: Selection, _ queries: QueryRun) {
    self.queries = queries
    patterns = selection.patterns
    func all(_ conditions: [Expression]) -> Expression? {
      conditions.isEmpty ? nil : .all(conditions)
    }
    facts = all(selection.conditions.filter { !$0.readsValue })
    values = all(selection.conditions.filter(\.readsValue))
  }

  var readsValues: Bool { values != nil }

  func passesKey(_ key: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(key) }
  }

  /// Whether an entry meets the conditions that need no value. Returns false if this program cannot read the value.
  func passesFacts(_ entry: Store.Entry) throws -> Bool {
    if let facts, try !queries.passes(facts, entry, Span()) { return false }
    return try !(queries.unreadable?.take(entry) ?? false)
  }

  func passesValue(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    if let values, try !queries.passes(values, entry, value) { return false }
    queries.passed += 1
    return true
  }
}
