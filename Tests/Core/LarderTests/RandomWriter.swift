import TestSupport

@testable import Larder

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
