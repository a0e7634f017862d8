import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct PurgeTests {
  @Test func `the count of a purge includes what reads have asked to be removed`() throws {
    try withNotes { store, notes, clock in
      let other = store.namespace("other")
      try store.write { batch in
        for number in 0..<2000 {
          try batch.set("v", for: number, in: notes, expires: .after(.seconds(1)))
          try batch.set("v", for: number, in: other, expires: .after(.seconds(1)))
        }
      }
      clock.advance(by: .seconds(1))
      for number in 0..<2000 { _ = try notes.text(number) }
      #expect(try notes.purge().entries == 2000)
      #expect(try store.namespaces().map(\.entries) == [0, 2000])
      #expect(try store.purge().entries == 2000)
    }
  }

  @Test func `a purge visits what is due and nothing else`() throws {
    try withNotes { store, notes, clock in
      try store.write { batch in
        for number in 0..<5000 {
          let life = Expiration.after(number < 10 ? .seconds(1) : .hours(1))
          try batch.set("v", for: number, in: notes, expires: life)
        }
      }
      clock.advance(by: .seconds(1))
      let visited = try store.engine.commit(.withoutCleanup) { batch in
        return try batch.purge(limit: 500, after: nil, only: nil)
      }
      #expect(visited.removal.entries == 10 && visited.reached == nil)
    }
  }

  @Test func `a purge works in batches of five hundred`() throws {
    try withNotes { store, notes, clock in
      try store.write { batch in
        for number in 0..<2600 {
          try batch.set("v", for: number, in: notes, expires: .after(.seconds(1)))
        }
      }
      clock.advance(by: .seconds(1))
      let before = try store.statistics().file.transaction
      #expect(try store.purge().entries == 2600)
      #expect(try store.statistics().file.transaction - before == 6)
    }
  }
}
