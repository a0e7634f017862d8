import Larder
import ShellLanguage

/// An entry with the value of the operand that it is sorted by.
struct Ranked: Equatable {
  let entry: Store.Entry
  let value: QueryValue
}

/// An order of entries other than the order of the keys.
struct EntryOrder {
  private let sort: Selection.Sort
  private let isReversed: Bool

  /// Nil for the order of keys and its reverse, in which entries are found.
  init?(_ selection: Selection) {
    guard let sort = selection.sort, sort != .key else { return nil }
    self.sort = sort
    isReversed = selection.isReversed
  }

  /// The operand of `--sort`; nil for a fact.
  var operand: QueryOperand? { if case .operand(let operand) = sort { operand } else { nil } }

  var readsValue: Bool { operand?.readsValue ?? false }

  /// The entry with the value that it is sorted by: of several elements the smallest, in reverse the largest.
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

/// The first elements of an order, at most so many: memory is for these and as many that may yet be some.
struct FirstOf<Element> {
  private let most: Int
  private let precedes: (Element, Element) -> Bool
  /// Is called often while elements are sorted; what it throws ends that.
  private let pause: () throws -> Void
  private var kept: [Element] = []
  /// The last kept element; an element behind it is not kept.
  private var last: Element?
  /// How many there were in all.
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
  /// The elements in order. `pause` is called often; what it throws ends the sorting.
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
