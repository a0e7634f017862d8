import Larder
import ShellLanguage

/// Whether an entry belongs to a selection. Made for one walk: a compiled expression cannot be shared.
struct EntryTest {
  private typealias Condition = (Store.Entry, Span<UInt8>) -> Bool

  /// Entries that have expired are looked at too.
  let seesExpired: Bool
  /// The bytes of the value decide as well.
  let readsValues: Bool
  private let patterns: [Selection.Pattern]
  private let conditions: [Condition]

  init(_ selection: Selection) throws(ShellError) {
    var conditions: [Condition] = []
    for filter in selection.filters { conditions.append(try Self.condition(filter)) }
    self.conditions = conditions
    // Keys from outside are looked up one by one and need no pattern.
    patterns = selection.patterns
    seesExpired = selection.wantsExpired
    readsValues = selection.filters.contains { if case .contains = $0 { true } else { false } }
  }

  func passes(_ entry: Store.Entry, _ value: Span<UInt8>) -> Bool {
    (patterns.isEmpty || patterns.contains { $0.matches(entry.key.bytes) })
      && passesFilters(entry, value)
  }

  func passesFilters(_ entry: Store.Entry, _ value: Span<UInt8>) -> Bool {
    for condition in conditions where !condition(entry, value) { return false }
    return true
  }

  private static func condition(_ filter: Selection.Filter) throws(ShellError) -> Condition {
    switch filter {
    case .match(let glob):
      return { entry, _ in glob.matches(entry.key.bytes) }
    case .regex(let regex):
      let matches = try regex.matcher()
      return { entry, _ in matches(entry.key.bytes) }
    case .tag(let tag):
      return { entry, _ in entry.tags.contains { $0.utf8.elementsEqual(tag) } }
    case .contains(let text):
      return { _, value in value.contains(text) }
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
  /// When it was last used as far as anybody knows: use that was forgotten was no earlier than the write.
  var lastUse: Timestamp { lastUsed ?? written }
}

extension Span<UInt8> {
  /// Whether these bytes occur in it.
  func contains(_ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    guard count >= text.count else { return false }
    for start in 0...(count - text.count) where self[start] == first {
      var length = 1
      while length < text.count, self[start + length] == text[length] { length += 1 }
      if length == text.count { return true }
    }
    return false
  }
}
