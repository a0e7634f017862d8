import Larder
import ShellLanguage

typealias Ranked = (entry: Store.Entry, value: QueryValue)

/// An order of entries that is not the order of the keys.
struct EntryOrder {
  private let sort: Selection.Sort
  private let isReversed: Bool

  /// Nil for the order of keys and for the reverse order, because a walk finds entries in these orders.
  init?(_ selection: Selection) {
    guard let sort = selection.sort, sort != .key else { return nil }
    self.sort = sort
    isReversed = selection.isReversed
  }

  /// The operand of `--sort`. Nil if a fact such as the size gives the order.
  var operand: QueryOperand? { if case .operand(let operand) = sort { operand } else { nil } }

  var readsValue: Bool { operand?.readsValue ?? false }

  /// The entry with its value for sorting. If there are several values, the smallest, or in reverse order the largest.
  func ranked(_ entry: Store.Entry, _ value: Span<UInt8>, _ queries: QueryRun) -> Ranked {
    guard let operand else { return (entry.withoutExtras, .null) }
    let values = queries.allValues([operand], for: .order, entry, value)[0]
    let rank = isReversed ? values.max { $0.precedes($1) } : values.min { $0.precedes($1) }
    return (entry.withoutExtras, rank ?? .null)
  }

  func precedes(_ a: Ranked, _ b: Ranked) -> Bool {
    if operand != nil, a.value != b.value {
      let (first, second) = isReversed ? (b.value, a.value) : (a.value, b.value)
      if first.precedes(second) { return true }
      if second.precedes(first) { return false }
    }
    return isBefore(a.entry, b.entry)
  }

  func isBefore(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
    let (a, b) = isReversed ? (b, a) : (a, b)
    return switch sort {
    case .size where a.size != b.size: a.size < b.size
    case .expiry where a.expires != b.expires:
      (a.expires?.milliseconds ?? .max) < (b.expires?.milliseconds ?? .max)
    case .written where a.written != b.written: a.written < b.written
    case .used where a.lastUse != b.lastUse: a.lastUse < b.lastUse
    default: (a.namespace, a.key) < (b.namespace, b.key)
    }
  }
}

/// The first `most` elements of an order. The memory holds up to 1,000 or twice `most` elements, whichever is greater.
struct FirstOf<Element> {
  let most: Int
  let pause: () throws -> Void
  let precedes: (Element, Element) -> Bool
  private(set) var kept: [Element] = []
  /// The last of the first `most` elements so far; nil while there are fewer elements. An element after `last` is not kept.
  private(set) var last: Element?
  private(set) var count = 0

  mutating func add(_ element: Element) throws {
    count += 1
    if let last, !precedes(element, last) { return }
    kept.append(element)
    if kept.count / 2 > max(most, 500) { try cut() }
  }

  private mutating func cut() throws {
    kept = try kept.sorted(pausing: pause, by: precedes)
    guard kept.count > most else { return }
    kept.removeLast(kept.count - most)
    last = kept.last
  }

  mutating func sorted() throws -> [Element] {
    try cut()
    return kept
  }
}

extension Sequence {
  /// The elements in order. `pause` is called often, and an error that `pause` throws ends the sorting.
  func sorted(
    pausing pause: () throws -> Void, by precedes: (Element, Element) -> Bool
  ) rethrows -> [Element] {
    var looked = 0
    return try sorted { a, b in
      looked += 1
      if looked % 1000 == 0 { try pause() }
      return precedes(a, b)
    }
  }
}
