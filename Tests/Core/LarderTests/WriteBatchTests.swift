import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct WriteBatchTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `everything in a batch was written at the same moment`() throws {
    let start = clock.now
    try store.write { batch in
      try batch.set("1", for: "a", in: notes)
      clock.advance(by: .seconds(5))
      try batch.set("1", for: "b", in: notes)
    }
    #expect(try notes.entry(for: "a")?.written == start)
    #expect(try notes.entry(for: "b")?.written == start)
  }

  @Test func `an error caught in a batch that changed nothing lets the rest go on`() throws {
    try store.write { batch in
      try batch.set("1", for: "a", in: notes)
      #expect(throws: LarderError.self) { try batch.set("1", for: "", in: notes) }
      #expect(throws: LarderError.self) { try batch.rename(store.namespace("none"), to: "other") }
      #expect(throws: LarderError.self) {
        try batch.declare(Rules(largestValue: -1), for: store.namespace("x"))
      }
      try batch.set("2", for: "b", in: notes)
    }
    #expect(try notes.count() == 2)
  }

  @Test func `an error of LMDB that is caught inside a batch prevents its commit`() throws {
    try notes.set("1", for: "a")
    let outcome = failure {
      try store.write { batch in
        try batch.set("2", for: "a", in: notes)
        #expect(throws: LarderError.self) {
          try batch.session.transaction.change { transaction throws(LMDBError) in
            try transaction.put([1], for: [UInt8](repeating: 1, count: 600), in: .main)
          }
        }
        #expect(throws: LarderError.self) { try batch.set("3", for: "a", in: notes) }
      }
    }
    #expect(outcome == .failed)
    #expect(try notes.text("a") == "1")
    try notes.set("4", for: "a")
    #expect(try notes.text("a") == "4")
  }

  @Test func `a batch of more than 100,000 changes or 64 MB fails whole`() throws {
    let large = [UInt8](repeating: 1, count: 33 << 20)
    let outcome = failure {
      try store.write { batch in
        try batch.set(large, for: "a", in: notes)
        #expect(throws: LarderError.self) { try batch.set(large, for: "b", in: notes) }
        #expect(throws: LarderError.self) { try batch.set("small", for: "c", in: notes) }
      }
    }
    #expect(outcome == .overLimit)
    #expect(try store.namespaces().isEmpty)
    let many = failure {
      try store.write { batch in
        for _ in 0...WriteBatch.largestCount { try batch.set("1", for: "k", in: notes) }
      }
    }
    #expect(many == .overLimit)
    #expect(try store.namespaces().isEmpty)
  }

  @Test func `one value larger than a batch may be is fine by itself`() throws {
    try store.declare(Rules(largestValue: 100 << 20), for: "notes")
    let large = [UInt8](repeating: 1, count: 70 << 20)
    try store.write { batch in try batch.set(large, for: "a", in: notes) }
    let outcome = failure {
      try store.write { batch in
        try batch.set(large, for: "b", in: notes)
        try batch.set("1", for: "c", in: notes)
      }
    }
    #expect(outcome == .overLimit)
    #expect(try notes.count() == 1)
  }

  @Test func `the store can be read and counted in a write, also if removals wait`() throws {
    try notes.set("1", for: "a", expires: .after(.seconds(1)))
    try notes.set("1", for: "b")
    clock.advance(by: .seconds(1))
    try store.write { batch in
      #expect(try notes.text("a") == nil && notes.count() == 2 && store.statistics().entries == 2)
      #expect(try store.verify().isSound && notes.page().items.count == 1)
      try batch.set("2", for: "c", in: notes)
    }
    #expect(try notes.count() == 2)
  }

  @Test func `a namespace made, renamed and cleared in one batch ends as it should`() throws {
    let (a, b) = (store.namespace("a"), store.namespace("b"))
    try store.write { batch in
      try batch.set("1", for: "k", in: a)
      try batch.rename(a, to: "b")
      #expect(try batch.value(for: "k", in: a) == nil)
      #expect(try batch.value(for: "k", in: b) == [UInt8]("1".utf8))
      try batch.set("2", for: "k", in: a)
      #expect(try batch.clear(b) == RemovalResult(entries: 1, bytes: 1))
      try batch.set("3", for: "l", in: b)
      #expect(try batch.clear(b).entries == 1)
      try batch.set("4", for: "m", in: b)
    }
    #expect(try [a.text("k"), b.text("m")] == ["2", "4"])
    #expect(try b.count() == 1)
    try store.purge()
    #expect(try store.verify().garbage == 0)
  }
}
