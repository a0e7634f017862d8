import Larder
import ShellLanguage

/// Tests whether an entry belongs to a selection. For one walk: matchers of expressions cannot be shared.
struct EntryTest {
  /// A condition, or the part of it that needs no value.
  private struct Part {
    let condition: Expression
    let readsResponse: Bool

    init(_ conditions: [Expression]) {
      condition = .all(conditions)
      readsResponse = condition.readsResponse
    }
  }

  /// Expired entries are tested, too.
  let seesExpired: Bool
  /// Takes the entries whose values cannot be read.
  let unreadable: UnreadableValues?
  private let queries: QueryRun
  private let patterns: [Selection.Pattern]
  private let facts: Part?
  private let values: Part?

  init(_ selection: Selection, _ queries: QueryRun) {
    self.queries = queries
    unreadable = queries.unreadable
    patterns = selection.patterns
    seesExpired = selection.wantsExpired
    let (values, facts) = (
      selection.conditions.filter(\.readsValue), selection.conditions.filter { !$0.readsValue }
    )
    self.facts = facts.isEmpty ? nil : Part(facts)
    self.values = values.isEmpty ? nil : Part(values)
  }

  /// A condition needs the bytes of the value.
  var readsValues: Bool { values != nil }

  func passes(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    try passesKey(entry.key.bytes) && passesFilters(entry, value)
  }

  func passesFilters(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    try passesFacts(entry) && passesValue(entry, value)
  }

  func passesKey(_ key: [UInt8]) -> Bool {
    patterns.isEmpty || patterns.contains { $0.matches(key) }
  }

  /// The conditions that need no value.
  func passesFacts(_ entry: Store.Entry) throws -> Bool {
    guard try passes(facts, entry, Span()) else { return false }
    return try !(unreadable?.take(entry) ?? false)
  }

  /// The conditions that need the value.
  func passesValue(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    guard try passes(values, entry, value) else { return false }
    queries.notePassed()
    return true
  }

  private func passes(
    _ part: Part?, _ entry: Store.Entry, _ value: Span<UInt8>
  ) throws -> Bool {
    guard let part else { return true }
    return try queries.passes(part.condition, readsResponse: part.readsResponse, entry, value)
  }
}

extension Store.Entry {
  /// The last known use; without one, the write.
  var lastUse: Timestamp { lastUsed ?? written }
}
