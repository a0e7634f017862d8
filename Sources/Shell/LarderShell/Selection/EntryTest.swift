import Larder
import ShellLanguage

/// Tests whether an entry belongs to a selection. Walks cannot share the matchers of expressions, so each walk has its own test.
struct EntryTest {
  /// Either the conditions that need the value of the entry, or the conditions that need no value.
  private typealias Part = (condition: Expression, readsResponse: Bool)

  private let queries: QueryRun
  private let patterns: [Selection.Pattern]
  private let facts: Part?
  private let values: Part?

  init(_ selection: Selection, _ queries: QueryRun) {
    self.queries = queries
    patterns = selection.patterns
    func part(_ conditions: [Expression]) -> Part? {
      let condition = Expression.all(conditions)
      return conditions.isEmpty
        ? nil : (condition: condition, readsResponse: condition.readsResponse)
    }
    facts = part(selection.conditions.filter { !$0.readsValue })
    values = part(selection.conditions.filter(\.readsValue))
  }

  var readsValues: Bool { values != nil }

  func passesKey(_ key: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(key) }
  }

  /// Whether an entry meets the conditions that need no value. Returns false if this program cannot read the value.
  func passesFacts(_ entry: Store.Entry) throws -> Bool {
    guard try passes(facts, entry, Span()) else { return false }
    return try !(queries.unreadable?.take(entry) ?? false)
  }

  func passesValue(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    guard try passes(values, entry, value) else { return false }
    queries.notePassed()
    return true
  }

  private func passes(_ part: Part?, _ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    guard let part else { return true }
    return try queries.passes(part.condition, readsResponse: part.readsResponse, entry, value)
  }
}

extension Store.Entry {
  /// The time of the last known use. If no use is known, the time of the write.
  var lastUse: Timestamp { lastUsed ?? written }
}
