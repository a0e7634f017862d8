import Foundation
import Larder
import Synchronization
import TestSupport

extension Peer {
  /// `race STORE SEED ROUNDS CLIENT`: four threads make all kinds of calls at the same time as other peers do.
  ///
  /// Prints `sum N` for the increments that returned, `claims N` for the keys stored first, and `WRONG` for an impossible result.
  func race() throws {
    let opened = try Store(at: store)
    let (rounds, client) = (argument(1), argument(2))
    let sum = Atomic(0)
    let claims = Atomic(0)
    Peer.say("open")
    try inThreads(4) { thread in
      var random = SeededRNG(seed: UInt64(argument(0) * 100 + client * 4 + thread))
      for round in 0..<rounds {
        do {
          try raceOnce(opened, round, client * 4 + thread, &random, sum, claims)
        } catch let error as LarderError where error.code == .busy {
          // The test may stop a process that holds the lock, so calls of other processes may fail.
        } catch { Peer.say("WRONG \(error)") }
      }
    }
    Peer.say("sum \(sum.load(ordering: .relaxed))")
    Peer.say("claims \(claims.load(ordering: .relaxed))")
    try opened.close()
    Peer.say("end")
  }

  private func raceOnce(
    _ store: Store, _ round: Int, _ writer: Int, _ random: inout SeededRNG,
    _ sum: borrowing Atomic<Int>, _ claims: borrowing Atomic<Int>
  ) throws {
    let notes = store.namespace("notes")
    switch random.next(in: 0..<20) {
    case 0...3:
      try store.namespace("sums").increment(random.next(in: 0..<4))
      sum.add(1, ordering: .relaxed)
    case 4...6:
      if try store.namespace("claims").setIfAbsent("\(writer)", for: round) {
        claims.add(1, ordering: .relaxed)
      }
    case 7...9:
      // These two entries always change together. A read that finds two different values is wrong.
      let value = "\(writer) \(round)"
      try store.write { batch in
        try batch.set(value, for: "left", in: notes)
        try batch.set(value, for: "right", in: notes)
      }
    case 10, 11:
      try store.read { snapshot in
        let left = try snapshot.value(for: "left", in: notes)
        let right = try snapshot.value(for: "right", in: notes)
        if left != right { Peer.say("WRONG \(left ?? []) beside \(right ?? [])") }
      }
    case 12...14:
      var attributes = EntryAttributes(expires: .after(.milliseconds(random.next(in: 1..<50))))
      attributes.tags = ["t\(round % 3)"]
      let key = random.next(in: 0..<60)
      try notes.set([UInt8](repeating: UInt8(key), count: key * 211), for: key, attributes)
    case 15:
      let key = random.next(in: 0..<60)
      if let value: [UInt8] = try notes.value(for: key),
        value != [UInt8](repeating: UInt8(key), count: key * 211)
      {
        Peer.say("WRONG value of \(key)")
      }
    case 16: try notes.remove(random.next(in: 0..<60))
    case 17: _ = try store.invalidate(tag: "t\(round % 3)")
    case 18: _ = try store.purge()
    default: try notes.scan { _, _ in true }
    }
  }
}
