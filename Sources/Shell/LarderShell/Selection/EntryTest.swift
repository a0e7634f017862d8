import Larder
import ShellLanguage

/// Tests whether an entry belongs to a selection. For one walk: matchers of expressions cannot be shared.
struct EntryTest {
  private typealias Condition = (Store.Entry, Span<UInt8>) throws -> Bool

  /// Expired entries are tested, too.
  let seesExpired: Bool
  /// Takes the entries whose values cannot be read.
  let unreadable: UnreadableValues?
  private let patterns: [Selection.Pattern]
  private let factConditions: [Condition]
  private let valueConditions: [Condition]

  init(_ selection: Selection, _ queries: QueryRun) throws(ShellError) {
    func conditions(_ filters: [Selection.Filter]) throws(ShellError) -> [Condition] {
      var conditions: [Condition] = []
      // Queries cost more than other conditions.
      for filter in filters.sorted(by: { !$0.isQuery && $1.isQuery }) {
        conditions.append(try Self.condition(filter, ignoresCase: selection.ignoresCase, queries))
      }
      return conditions
    }
    factConditions = try conditions(selection.filters.filter { !$0.readsValue })
    valueConditions = try conditions(selection.filters.filter(\.readsValue))
    unreadable = queries.unreadable
    patterns = selection.patterns
    seesExpired = selection.wantsExpired
  }

  /// A condition needs the bytes of the value.
  var readsValues: Bool { !valueConditions.isEmpty }

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
    guard try passes(factConditions, entry, Span()) else { return false }
    return try !(unreadable?.take(entry) ?? false)
  }

  /// The conditions that need the value.
  func passesValue(_ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    try passes(valueConditions, entry, value)
  }

  private func passes(
    _ conditions: [Condition], _ entry: Store.Entry, _ value: Span<UInt8>
  ) throws -> Bool {
    for condition in conditions where try !condition(entry, value) { return false }
    return true
  }

  private static func condition(
    _ filter: Selection.Filter, ignoresCase: Bool, _ queries: QueryRun
  ) throws(ShellError) -> Condition {
    switch filter {
    case .match(let glob):
      return { entry, _ in glob.matches(entry.key.bytes) }
    case .regex(let regex):
      let matcher = regex.matcher(queries.pause)
      return { entry, _ in try matcher.matches(entry.key.bytes) }
    case .tag(let tag):
      return { entry, _ in entry.tags.contains { $0.utf8.elementsEqual(tag) } }
    case .contains(let text):
      guard ignoresCase else {
        return { _, value in try value.firstRange(of: text, pause: queries.pause) != nil }
      }
      let finder = try TextFinder(text, isExact: false, pause: queries.pause)
      return { _, value in try !finder.finds(in: value.bytes).isEmpty }
    case .query(let expression):
      let readsResponse = expression.readsResponse
      return { entry, value in
        try queries.passes(expression, readsResponse: readsResponse, entry, value)
      }
    case .expiring(let end):
      return { entry, _ in entry.expires.map { $0.unix <= end } ?? false }
    case .expired:
      return { entry, _ in entry.state == .expired }
    case .permanent:
      return { entry, _ in entry.expires == nil }
    case .older(let time):
      return { entry, _ in entry.written.unix < time }
    case .newer(let time):
      return { entry, _ in entry.written.unix >= time }
    case .larger(let size):
      return { entry, _ in entry.size > size }
    case .smaller(let size):
      return { entry, _ in entry.size < size }
    case .idle(let time):
      return { entry, _ in entry.lastUse.unix < time }
    }
  }
}

extension Store.Entry {
  /// The last known use; without one, the write.
  var lastUse: Timestamp { lastUsed ?? written }
}

extension Selection.Filter {
  fileprivate var isQuery: Bool { if case .query = self { true } else { false } }

  /// The filter needs the bytes of the value.
  fileprivate var readsValue: Bool {
    switch self {
    case .contains: true
    case .query(let expression): expression.readsValue
    default: false
    }
  }
}
