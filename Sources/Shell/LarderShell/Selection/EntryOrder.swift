import Larder
import ShellLanguage

struct Ranked: Equatable {
  let entry: Store.Entry
  let value: QueryValue
}

/// An order of entries other than the order of the keys.
struct EntryOrder {
  private let sort: Selection.Sort
  private let isReversed: Bool

  /// Nil for the order of keys and its reverse: a walk finds entries in the order of keys.
  init?(_ selection: Selection) {
    guard let sort = selection.sort, sort != .key else { return nil }
    self.sort = sort
    isReversed = selection.isReversed
  }

  /// The operand of `--sort`; nil if the order is by a fact.
  var operand: QueryOperand? { if case .operand(let operand) = sort { operand } else { nil } }

  var readsValue: Bool { operand?.readsValue ?? false }

  /// The entry with the value by which it is sorted: the smallest of several elements, or in reverse the largest.
  func ranked(_ entry: Store.Entry, _ value: Span<UInt8>, _ queries: QueryRun) -> Ranked {
    guard let operand else { return Ranked(entry: entry.withoutExtras, value: .null) }
    let values = queries.allValues([operand], for: .order, entry, value)[0]
    let rank = isReversed ? values.max { $0.precedes($1) } : values.min { $0.precedes($1) }
    return Ranked(entry: entry.withoutExtras, value: rank ?? .null)
  }

  func precedes(_ a: Ranked, _ b: Ranked) -> Bool {
    let (a, b) = isReversed ? (b, a) : (a, b)
    if operand != nil, a.value != b.value {
      if a.value.precedes(b.value) { return true }
      if b.value.precedes(a.value) { return false }
    }
    return ascends(a.entry, b.entry)
  }

  private func ascends(_ a: Store.Entry, _ b: Store.Entry) -> Bool {
    switch sort {
    case .size where a.size != b.size: a.size < b.size
    case .expiry where a.expires != b.expires:
      (a.expires?.milliseconds ?? .max) < (b.expires?.milliseconds ?? .max)
    case .written where a.written != b.written: a.written < b.written
    case .used where a.lastUse != b.lastUse: a.lastUse < b.lastUse
    default: (a.namespace, a.key) < (b.namespace, b.key)
    }
  }
}

/// The first elements of an order, at most `most`. Up to twice as many elements, or 1,000, are in memory until they are sorted.
struct FirstOf<Element> {
  private let most: Int
  private let precedes: (Element, Element) -> Bool
  /// Called often while elements are sorted; its error ends the sorting.
  private let pause: () throws -> Void
  private var kept: [Element] = []
  /// The last kept element. Elements after this element are not kept.
  private var last: Element?
  private(set) var count = 0

  init(
    _ most: Int, pause: @escaping () throws -> Void,
    by precedes: @escaping (Element, Element) -> Bool
  ) {
    (self.most, self.pause, self.precedes) = (most, pause, precedes)
  }

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
  /// The elements in order. `pause` is called often; its error ends the sorting.
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
