import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

extension MemoryTests {
  @Test func `after closing nothing is given any more`() throws {
    try withTemporaryDirectory { path in
      var store = try Store(at: path + "/s")
      var notes = store.cache(codec, in: "notes")
      try notes.set("v", for: "k")
      for _ in 0..<3 { #expect(try notes.value(for: "k") == "v") }
      try store.close()
      #expect(failure { _ = try notes.value(for: "k") } == .closed)
      #expect(notes.memory?.usage == MemoryUsage())
      store = try Store(at: path + "/s")
      notes = store.cache(codec, in: "notes")
      #expect(try notes.value(for: "k") == "v")
      #expect(try notes.namespace.reads.memoryHits == 2 && notes.namespace.reads.hits == 4)
      try store.close()
    }
  }

  @Test func `without memory each read decodes`() throws {
    let notes = store.cache(codec, in: "notes", memory: MemoryLimits.off)
    #expect(notes.memory == nil)
    try notes.set("v", for: "k")
    for _ in 0..<3 { #expect(try notes.value(for: "k") == "v") }
    #expect(codec.decoded == 3)
    #expect(try notes.namespace.reads.memoryHits == 0)
    #expect(try store.statistics().namespaces.first?.memory == nil)
  }

  @Test func `caches share a memory if their codecs are alike`() throws {
    let colors = store.cache(of: Color.self, in: "colors")
    #expect(store.cache(of: Color.self, in: "colors").memory === colors.memory)
    #expect(store.cache(of: Color.self, in: "others").memory !== colors.memory)
    #expect(store.cache(of: Int.self, in: "colors").memory !== colors.memory)
    #expect(store.cache(codec, in: "c").memory === store.cache(codec, in: "c").memory)
    #expect(store.cache(codec, in: "c").memory !== store.cache(CountingCodec(), in: "c").memory)
    #expect(
      store.cache(TextCodec(), in: "c").memory === store.cache(TextCodec(), in: "c").memory)
    let limits = MemoryLimits(cost: 5, entries: 2)
    #expect(store.cache(of: Color.self, in: "colors", memory: limits).memory?.limits == limits)
    #expect(colors.memory?.limits == limits)
    #expect(store.cache(of: Color.self, in: "colors").memory?.limits == limits)
  }

  @Test func `a memory that no cache uses and that keeps nothing is released`() throws {
    let held = store.cache(codec, in: "held")
    let copy = { held }()
    do {
      let kept = store.cache(codec, in: "kept")
      try kept.set("v", for: "k")
      #expect(try kept.value(for: "k") == "v")
    }
    for number in 0..<1000 { _ = store.cache(codec, in: "name\(number)") }
    let members = store.engine.memory.budget.members
    #expect(members.count <= 128)
    #expect(members.contains { $0 === held.memory } && copy.memory === held.memory)
    #expect(store.cache(codec, in: "held").memory === held.memory)
    #expect(store.engine.allHandles.count <= 256)
    // Memory still holds the value for the next cache.
    #expect(try store.cache(codec, in: "kept").value(for: "k") == "v")
    #expect(codec.decoded == 1)
  }

  @Test func `a codec nobody can compare has a memory that goes with its cache`() throws {
    struct Shift: Codec {
      let by: UInt8
      let id = CodecID(rawValue: 203)
      func encode(_ value: [UInt8]) -> [UInt8] { value.map { $0 &+ by } }
      func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copied.map { $0 &- by } }
    }
    for _ in 0..<2 {
      let one = store.cache(Shift(by: 1), in: "notes")
      let two = store.cache(Shift(by: 2), in: "notes")
      try one.set([5], for: "k")
      for _ in 0..<2 {
        #expect(try one.value(for: "k") == [5])
        #expect(try two.value(for: "k") == [4])
      }
      #expect(store.memory.usage.entries == 2)
    }
    #expect(store.memory.usage == MemoryUsage())
    #expect(try store.namespace("notes").reads.memoryHits == 4)
  }
}
