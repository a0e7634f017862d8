import LarderSystem
import Testing

@testable import Larder

@Suite struct KeyHashTests {
  @Test func `no two of a hundred thousand keys of all lengths collide`() {
    let hash = KeyHash()
    var hashes: Set<UInt64> = []
    var count = 0
    for number in 0..<100_000 {
      let key = Array("\(number)".utf8) + [UInt8](repeating: 0, count: number % 40)
      hashes.insert(hash.hash(of: key.span))
      count += 1
    }
    #expect(hashes.count == count)
  }

  @Test func `each byte of a key counts, and its length`() {
    let hash = KeyHash()
    for length in 0...70 {
      let key = [UInt8](repeating: 7, count: length)
      var hashes: Set<UInt64> = [hash.hash(of: key.span), hash.hash(of: (key + [0]).span)]
      for index in key.indices {
        var other = key
        other[index] = 8
        hashes.insert(hash.hash(of: other.span))
      }
      #expect(hashes.count == length + 2, "length \(length)")
    }
  }

  /// The keys have the same checksum for every seed, because their first word makes the product in the checksum 0.
  @Test func `keys that are chosen to collide do not`() {
    var keys: [[UInt8]] = []
    for number in 0..<1000 as Range<UInt64> {
      var key: [UInt8] = []
      key.append(word: 0xE703_7ED1_A0B4_28DB)
      key.append(word: number)
      keys.append(key)
    }
    let seed = UInt64.random(in: .min ... .max)
    #expect(Set(keys.map { Checksum.of($0.span, seed: seed) }).count == 1)
    let hash = KeyHash()
    #expect(Set(keys.map { hash.hash(of: $0.span) }).count == keys.count)
  }

  @Test func `each cache has its own secrets`() {
    let key = Array("key".utf8)
    #expect(KeyHash().hash(of: key.span) != KeyHash().hash(of: key.span))
  }
}
