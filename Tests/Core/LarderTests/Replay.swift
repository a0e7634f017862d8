import TestSupport
import Testing

@testable import Larder

/// The knowledge of a watcher that sees only the changes: the keys of each namespace, and the size of each value.
struct Replay {
  private(set) var sizes: [String: [Key: Int]] = [:]
  private(set) var missed = 0
  private(set) var count = 0
  private var transaction: UInt64 = 0

  /// Applies the next change. Expects that the change fits the known keys and sizes.
  mutating func apply(_ change: Change, _ comment: Comment? = nil) {
    count += 1
    guard let namespace = change.namespace, let commit = change.transaction else {
      missed += 1
      return
    }
    #expect(commit >= transaction, comment)
    transaction = commit
    let key = change.key ?? Key([])
    let before = sizes[namespace]?[key]
    switch change.kind {
    case .set:
      #expect(change.sizeBefore == before, comment)
      sizes[namespace, default: [:]][key] = change.sizeAfter
    case .touched: #expect(change.sizeBefore == before && change.sizeAfter == before, comment)
    case .removed:
      #expect(change.sizeBefore == before && before != nil && change.sizeAfter == nil, comment)
      sizes[namespace]?[key] = nil
    case .cleared:
      #expect(change.sizeBefore == (sizes[namespace] ?? [:]).values.reduce(0, +), comment)
      sizes[namespace] = [:]
    case .renamed(let name):
      #expect(sizes[name] == nil, comment)
      sizes[name] = sizes.removeValue(forKey: namespace)
    case .missed, .ended, .health: break
    }
  }

  /// Expects that the store has exactly the known entries, except in the namespace `end`.
  func compare(_ store: Store, _ comment: Comment? = nil) throws {
    for facts in try store.namespaces() where facts.name != "end" {
      let known = sizes[facts.name] ?? [:]
      #expect(facts.entries == known.count, comment)
      #expect(facts.bytes == known.values.reduce(0, +), comment)
      for (key, size) in known {
        #expect(try store.namespace(facts.name).entry(for: key)?.size == size, comment)
      }
    }
  }
}

extension Changes.Iterator {
  /// The changes of all commits up to now.
  mutating func rest(of store: Store) async throws -> [Change] {
    // The change of this write marks the end of the changes to return.
    try await store.namespace("end").set("", for: "end")
    var changes: [Change] = []
    while let change = await next() {
      if change.namespace == "end", change.kind == .set { break }
      if change.namespace != "end" { changes.append(change) }
      if case .ended = change.kind { break }
    }
    // The commit of the mark may also have removed expired entries. The changes of these removals come after the mark.
    while let change = nextNow() { changes.append(change) }
    return changes
  }
}

extension Store {
  var publishesChanges: Bool { get throws { try write { batch in batch.session.changes != nil } } }
}

struct RandomWriter {
  let store: Store
  let clock: ManualClock
  private var random: SeededRNG
  private var names = ["a", "b", "c"]
  private var renamed = 0

  init(store: Store, clock: ManualClock, seed: UInt64) throws {
    self.store = store
    self.clock = clock
    random = SeededRNG(seed: seed)
    try store.declare(Rules(limits: Limits(entries: 8), eviction: .fifo), for: "b")
    try store.declare(StoreLimits(bytes: 60_000))
  }

  mutating func step() throws {
    let place = random.next(in: 0..<names.count)
    let notes = store.namespace(names[place])
    let key = "\(random.next(in: 0..<20))"
    switch random.next(in: 0..<20) {
    case 0..<8: try set(key, in: notes)
    case 8..<10: try notes.remove(key)
    case 10: try notes.touch(key, expires: life())
    case 11: try batch(fails: random.chance(percent: 30))
    case 12: try store.purge()
    case 13: if random.chance(percent: 30) { try notes.clear() }
    case 14:
      guard random.chance(percent: 40), try notes.info() != nil else { return }
      renamed += 1
      names[place] = "renamed-\(renamed)"
      try store.rename(notes.name, to: names[place])
    case 15..<17: _ = try notes.bytes(key)
    case 17:
      guard try notes.contains(key) else { return }
      // The owner of this entry is `key` in `notes`. The removal of the owner also removes this entry.
      try store.namespace("a").set(
        [1, 2, 3], for: "image \(key)", .with(owners: [Owner(Key(key), in: notes.name)]))
    default: clock.advance(by: .milliseconds(random.next(in: 0..<2000)))
    }
  }

  private mutating func life() -> Expiration {
    random.chance(percent: 50) ? .never : .after(.milliseconds(random.next(in: 0..<5000)))
  }

  private mutating func set(_ key: String, in notes: Store.Namespace) throws {
    let size = random.chance(percent: 20) ? random.next(in: 0..<9000) : random.next(in: 0..<60)
    try notes.set([UInt8](repeating: 1, count: size), for: key, expires: life())
  }

  private mutating func batch(fails: Bool) throws {
    do {
      let changes = (0..<random.next(in: 1..<12)).map { _ in
        (
          random.next(in: 0..<names.count), random.next(in: 0..<20), random.next(in: 0..<90),
          random.chance(percent: 70)
        )
      }
      try store.write { batch in
        for (place, key, size, isSet) in changes {
          let notes = store.namespace(names[place])
          if isSet {
            try batch.set([UInt8](repeating: 2, count: size), for: "\(key)", in: notes)
          } else {
            try batch.remove("\(key)", from: notes)
          }
        }
        if fails { throw Stop() }
      }
    } catch is Stop {}
  }
}
