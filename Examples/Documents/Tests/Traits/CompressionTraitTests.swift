import Larder
import LarderCompression
import LarderTesting
import TestSupport
import Testing

@Suite struct CompressionTraitTests {
  private func board(_ index: Int) -> String {
    """
    {"station":"Zurich Hauptbahnhof","departures":[{"line":"S\(index % 20)","to":"Winterthur","minutes":\(index % 60),\
    "platform":\(index % 34)},{"line":"IC\(index % 9)","to":"Bern","minutes":\(index * 7 % 60),"platform":\(index * 3 % 34)}]}
    """
  }

  @Test func `values that gain are stored compressed, others as they are`() throws {
    try withTemporaryStore(options: options(ZstdCompression())) { store, _ in
      let notes = store.namespace("notes")
      var random = SeededRNG(seed: 1)
      let values: [(key: String, value: [UInt8], transforms: [TransformID])] = [
        ("long", [UInt8](repeating: 5, count: 100_000), [.zstd]), ("short", [5, 5, 5], []),
        ("noise", random.bytes(10_000), []),
      ]
      for (key, value, transforms) in values {
        try notes.set(value, for: key)
        #expect(try notes.value(for: key) == value)
        let entry = try #require(try notes.entry(for: key))
        #expect(entry.size == value.count && entry.transforms == transforms)
      }
      // Limits count the stored bytes, after compression.
      #expect(try notes.info()!.bytes < 12_000)
    }
  }

  @Test func `a dictionary of the namespace makes small values shorter`() throws {
    let compression = ZstdCompression()
    try withTemporaryStore(options: options(compression)) { store, _ in
      let boards = store.namespace("boards")
      try boards.set("too little", for: "one")
      #expect(throws: LarderError.self) { try compression.trainDictionary(for: boards) }
      for index in 0..<600 { try boards.set(board(index), for: "\(index)") }
      let before = try boards.info()!.bytes
      let training = try compression.trainDictionary(for: boards, size: 4_096)
      #expect(training.isUsed && training.samples == 600)
      #expect(training.withDictionary * 3 < training.compressed * 2)
      for index in 0..<600 { try boards.set(board(index), for: "\(index)") }
      #expect(try boards.info()!.bytes * 3 < before * 2)
      for index in 0..<600 { #expect(try boards.value(for: "\(index)") == board(index)) }
      #expect(try !compression.trainDictionary(for: boards, size: 4_096).isUsed, "a twin")
      // A later training may replace the dictionary, but values with the first dictionary stay readable.
      for index in 600..<1_200 { try boards.set(board(index) + " again", for: "\(index)") }
      _ = try compression.trainDictionary(for: boards, size: 8_192)
      try boards.set(board(3), for: "new")
      #expect(try boards.value(for: "5") == board(5) && boards.value(for: "new") == board(3))
    }
  }

  @Test func `a process keeps few dictionaries in memory`() throws {
    let (compression, recorder) = (ZstdCompression(), ContextRecorder())
    try withTemporaryStore(options: options(compression, recorder)) { store, _ in
      let (boards, storage) = (store.namespace("boards"), store.namespace("larder.transforms"))
      for index in 0..<600 { try boards.set(board(index), for: "\(index)") }
      #expect(try compression.trainDictionary(for: boards, size: 4_096).isUsed)
      try boards.set(board(1), for: "new")
      let context = try #require(recorder.last)
      let name = try #require(try storage.keys(prefix: "dictionary ").first)
      let made: [UInt8]? = try storage.value(for: name)
      var other = try #require(made)
      for number in UInt8(1)...64 {
        // The bytes 4 to 7 of a dictionary are its number.
        let (id, noFrame) = ([number, 0, 0, 0], [UInt8](repeating: 0, count: 9))
        other.replaceSubrange(4..<8, with: id)
        try storage.set(other, for: "dictionary \(number)")
        #expect(throws: (any Error).self) {
          try compression.revert(noFrame.span, id.span, size: 1, for: context)
        }
      }
      // The first dictionary is no longer in memory, so without its entry its value cannot be read.
      try storage.remove(name)
      let found: String? = try boards.value(for: "new")
      #expect(found == nil)
    }
  }

  @Test func `a dictionary that needs itself is no dictionary`() throws {
    try withTemporaryStore(options: options(SelfNaming())) { store, _ in
      let storage = store.namespace("larder.transforms")
      try storage.set("v", for: "dictionary 5")
      let found: [UInt8]? = try storage.value(for: "dictionary 5")
      #expect(found == nil)
    }
  }

  @Test func `hostile bytes are an error, and claimed sizes allocate nothing`() throws {
    let compression = ZstdCompression(largestValue: 1_000_000)
    let recorder = ContextRecorder()
    try withTemporaryStore(options: options(recorder)) { store, _ in
      try store.namespace("notes").set("v", for: "k")
      let context = try #require(recorder.last)
      let value = [UInt8](repeating: 5, count: 5_000)
      let (frame, none) = try #require(try compression.apply(value.span, for: context))
      #expect(try compression.revert(frame.span, none.span, size: 5_000, for: context) == value)
      func expectFailure(_ frame: [UInt8], _ parameters: [UInt8] = [], size: Int = 5_000) {
        #expect(throws: (any Error).self) {
          try compression.revert(frame.span, parameters.span, size: size, for: context)
        }
      }
      for size in [0, 4_999, 5_001, 1_000_001, 1 << 30] { expectFailure(frame, size: size) }
      // The header of this frame claims as many bytes as the entry, but the frame has no content.
      let claims: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0x40, 0x42, 0x0F, 0x00, 1, 0, 0]
      expectFailure(claims, size: 1_000_000)
      expectFailure(frame, [1, 2, 3, 4])
      var random = SeededRNG(seed: 7)
      for _ in 0..<5_000 {
        var damaged = frame
        for _ in 0..<2 { damaged[random.next(in: frame.indices)] = UInt8(random.next(in: 0..<256)) }
        if random.chance(percent: 50) { damaged.removeLast(random.next(in: frame.indices)) }
        let found = try? compression.revert(damaged.span, none.span, size: 5_000, for: context)
        #expect(found == nil || found?.count == 5_000)
      }
    }
  }
}

func options(_ transforms: any ValueTransform...) -> Store.Options {
  with(Store.Options()) { $0.transforms = transforms }
}

/// States for each value that dictionary 5 has compressed the value.
private struct SelfNaming: ValueTransform {
  private let compression = ZstdCompression()
  var id: TransformID { .zstd }

  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) -> (bytes: [UInt8], parameters: [UInt8])? {
    (bytes.indices.map { bytes[$0] }, [5, 0, 0, 0])
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] {
    try compression.revert(bytes, parameters, size: size, for: context)
  }
}

/// Records the context of the newest value, because only a store can make a context.
final class ContextRecorder: ValueTransform, @unchecked Sendable {
  private(set) var last: TransformContext?
  let id = TransformID(rawValue: 200)

  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) -> (bytes: [UInt8], parameters: [UInt8])? {
    last = context
    return nil
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] { throw CancellationError() }
}
