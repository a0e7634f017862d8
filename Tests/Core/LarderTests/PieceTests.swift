import LarderSystem
import TestSupport
import Testing

@testable import Larder

struct PieceTests {
  private let seed = TestSettings.seed

  @Test(arguments: [nil, 3_000])
  func `pieces are the bytes of the value, in one record or in chunks`(chunksAbove: Int?) throws {
    try withStore(chunksAbove: chunksAbove) { store, _ in
      let namespace = store.namespace("a")
      let value = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
      try namespace.set(value, for: "k")
      var random = SeededRNG(seed: seed)
      for _ in 0..<200 {
        let start = Int.random(in: 0...value.count, using: &random)
        let end = Int.random(in: start...value.count, using: &random)
        let piece = try namespace.piece(of: "k", start..<end, as: .next) { _ in true }
        #expect(piece == Array(value[start..<end]), "\(start)..<\(end), seed \(seed)")
      }
      let beyond = try namespace.piece(of: "k", 100_000..<200_000, as: .next) { _ in true }
      #expect(beyond == Array(value[100_000...]))
      #expect(try namespace.piece(of: "k", 0..<1, as: .first) { _ in false } == nil)
      #expect(try namespace.piece(of: "no", 0..<1, as: .first) { _ in true } == nil)
    }
  }

  @Test func `a checksum in pieces is that of the whole`() {
    var random = SeededRNG(seed: seed)
    for count in Array(0...200) + [4096, 10_007] {
      let bytes = random.bytes(count)
      var stream = Checksum.Stream(seed: 3)
      var offset = 0
      while offset < count {
        let end = min(count, offset + Int.random(in: 0...100, using: &random))
        stream.append(Array(bytes[offset..<end]).span)
        offset = end
      }
      #expect(stream.result == Checksum.of(bytes.span, seed: 3), "\(count) bytes, seed \(seed)")
    }
  }
}
