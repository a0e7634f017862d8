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
      let long = String(repeating: "compressible ", count: 10_000)
      try notes.set(long, for: "long")
      try notes.set("short", for: "short")
      var random = SeededRNG(seed: 1)
      let noise = (0..<10_000).map { _ in UInt8(random.next(in: 0..<256)) }
      try notes.set(noise, for: "noise")
      #expect(try notes.value(for: "long") == long)
      #expect(try notes.value(for: "noise") == noise)
      let entry = try #require(try notes.entry(for: "long"))
      #expect(entry.size == long.utf8.count && entry.storedSize < 1_000)
      #expect(entry.transforms == [.zstd])
      #expect(try notes.entry(for: "short")?.transforms == [])
      #expect(try notes.entry(for: "noise")?.transforms == [])
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
      // Another `ZstdCompression` reads the values with the dictionary in the store.
      let stored = try boards.entry(for: "7")
      #expect(stored?.transforms == [.zstd])
      // A second training replaces the dictionary; values of the first stay readable.
      for index in 600..<1_200 { try boards.set(board(index) + " again", for: "\(index)") }
      _ = try compression.trainDictionary(for: boards, size: 8_192)
      try boards.set(board(3), for: "new")
      #expect(try boards.value(for: "5") == board(5))
      #expect(try boards.value(for: "new") == board(3))
    }
  }

  @Test func `hostile bytes are an error, and claimed sizes allocate nothing`() throws {
    let compression = ZstdCompression(largestValue: 1_000_000)
    try withTemporaryStore(options: options(compression)) { store, _ in
      // Only a store makes a context, so a recorder takes a context from a store.
      let seen = Recorder(compression)
      let other = try Store.temporary(options: options(seen))
      let value = [UInt8](repeating: 5, count: 5_000)
      try other.namespace("notes").set(value, for: "k")
      let (frame, context) = try #require(seen.last)
      let none: [UInt8] = []
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
      try store.namespace("notes").set(value, for: "k")
    }
  }
}

func options(_ transforms: any ValueTransform...) -> Store.Options {
  var options = Store.Options()
  options.transforms = transforms
  return options
}

final class Recorder: ValueTransform, @unchecked Sendable {
  private let base: any ValueTransform
  private(set) var last: (bytes: [UInt8], context: TransformContext)?

  init(_ base: any ValueTransform) { self.base = base }
  var id: TransformID { base.id }
  var coversMetadata: Bool { base.coversMetadata }

  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) throws -> (bytes: [UInt8], parameters: [UInt8])? {
    let result = try base.apply(bytes, for: context)
    if let result, context.part == .value { last = (result.bytes, context) }
    return result
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] { try base.revert(bytes, parameters, size: size, for: context) }
}
