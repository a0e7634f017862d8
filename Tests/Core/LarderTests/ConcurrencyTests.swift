import Foundation
import LMDB
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct ConcurrencyTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `a removal that a read asked for never destroys a newer write: 0 of 12,000`() throws {
    let lost = Tally()
    try inThreads(repeating: 2) { thread in
      // Each read of an expired entry asks a later write to remove the entry. These fast reads make many requests.
      for key in 0..<8 { _ = try notes.text(key) }
      if thread == 1 { _ = try notes.count() }
    } during: {
      try inThreads(2) { thread in
        for round in 0..<1500 {
          let keys = [thread, thread + 2, thread + 4, thread + 6]
          try notes.fill(keys, .with(expires: .after(.zero)))
          for key in keys {
            try notes.set("new \(round)", for: key, expires: .never)
            if try notes.text(key) != "new \(round)" { lost.add() }
          }
        }
      }
    }
    #expect(lost.value == 0)
    #expect(try notes.count() == 8)
  }

  @Test func `a count right after a read that met an expired entry never includes it`() throws {
    let wrong = Tally()
    try inThreads(repeating: 1) { _ in
      // These writes also remove the expired entries that the other thread has read, but only some time after the read.
      try store.namespace("other").set("v", for: "k")
    } during: {
      for round in 0..<2000 {
        try notes.set("v", for: round, expires: .after(.zero))
        _ = try notes.text(round)
        if try notes.count() != 0 { wrong.add() }
      }
    }
    #expect(wrong.value == 0)
  }

  @Test func `no read sees a cleared or renamed namespace's old values, and none fails`() throws {
    let generation = Atomic(0)
    let (stale, hits) = (Tally(), Tally())
    try inThreads(repeating: 3) { _ in
      for key in 0..<10 {
        let before = generation.load(ordering: .sequentiallyConsistent)
        guard let found = try notes.text(key) else { continue }
        hits.add()
        if Int(found)! <= before { stale.add() }
      }
    } during: {
      for round in 1...300 {
        try notes.fill(0..<10, with: Array("\(round)".utf8))
        if round % 3 == 0 {
          try store.rename("notes", to: "away-\(round)")
        } else {
          try notes.clear()
        }
        generation.store(round, ordering: .sequentiallyConsistent)
      }
    }
    #expect(stale.value == 0)
    #expect(hits.value > 0)
  }

  @Test func `writes take turns with the batches of a purge`() throws {
    let count = 30_000
    try notes.fill(0..<count, .with(expires: .after(.seconds(1))))
    clock.advance(by: .seconds(1))
    let (late, writes) = (Tally(), Tally())
    try inThreads(repeating: 1) { _ in
      let before = store.engine.environment.lastTransaction
      let own = try store.write { batch in
        try batch.set("v", for: "k", in: store.namespace("other"))
        return batch.session.transaction.id
      }
      if own - before > 4 { late.add() }
      writes.add()
    } during: {
      while writes.value == 0 { usleep(1_000) }
      let removed = try store.purge().entries
      precondition(removed == count)
    }
    // The purge has 60 batches. If the purge held the lock during all batches, there would be almost no writes. A few
    // writes may be late, if the system suspended their thread before the thread began to wait.
    #expect(writes.value >= 30)
    #expect(late.value * 10 < writes.value, "\(late.value) of \(writes.value)")
  }

  @Test func `counts of reads from many threads add up`() throws {
    try notes.set("v", for: "k")
    try inThreads(4) { thread in
      for number in 0..<1000 {
        _ = try notes.text("k")
        _ = try notes.text("none")
        if number % 100 == thread { try store.write { _ in } }
      }
    }
    let reads = try notes.reads
    #expect(reads.hits == 4000 && reads.absent == 4000)
  }
}
