import Larder
import ShellLanguage

/// A number of entries, and the bytes of their values as they are stored.
struct Tally: Sendable, Hashable {
  var entries = 0
  var bytes = 0

  mutating func add(_ entry: Store.Entry) {
    entries += 1
    bytes += entry.transforms.isEmpty ? entry.size : entry.storedSize
  }

  static func += (left: inout Tally, right: Tally) { left = left + right }

  static func + (left: Tally, right: Tally) -> Tally {
    Tally(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
  }

  /// The rest of `left` without `right`. Never below zero: the two tallies may be from different moments.
  static func - (left: Tally, right: Tally) -> Tally {
    Tally(entries: max(left.entries - right.entries, 0), bytes: max(left.bytes - right.bytes, 0))
  }

  /// `40 entries, 31 kB`
  var words: SafeText { "\(Wording.entries(entries)), \(Wording.size(bytes))" }

  /// `40 entries (31 kB)`
  var inBrackets: SafeText { "\(Wording.entries(entries)) (\(Wording.size(bytes)))" }
}

extension Tally {
  init(_ removal: RemovalResult) { self.init(entries: removal.entries, bytes: removal.bytes) }
}
