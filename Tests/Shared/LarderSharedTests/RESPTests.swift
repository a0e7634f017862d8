import LarderRedis
import LarderShared
import TestSupport
import Testing

@Suite struct RESPTests {
  private func parse(_ text: String) throws -> Reply? {
    var parser = RESPParser()
    parser.append(text.utf8)
    return try parser.next()
  }

  @Test func everyTypeIsRead() throws {
    #expect(try parse("+OK\r\n") == .bytes(Array("OK".utf8)))
    #expect(try parse("-ERR no\r\n") == .failure("ERR no"))
    #expect(try parse(":-42\r\n") == .number(-42))
    #expect(try parse("$3\r\na\r\n\r\n") == .bytes(Array("a\r\n".utf8)))
    #expect(try parse("$0\r\n\r\n") == .bytes([]))
    #expect(try parse("$-1\r\n") == .null)
    #expect(try parse("*-1\r\n") == .null)
    #expect(try parse("*2\r\n:1\r\n*1\r\n$-1\r\n") == .list([.number(1), .list([.null])]))
    #expect(try parse("$3\r\nab") == nil)
  }

  @Test(arguments: [
    "x\r\n", "\r\n", ":\r\n", ":+1\r\n", ":1a\r\n", ":99999999999999999999\r\n", "$-2\r\n",
    "$999999999999\r\n", "$1\r\nab\r\n", "*-5\r\n", "*99999999\r\n", "+a\rb\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    "*9000\r\n*9000\r\n" + String(repeating: "*1\r\n", count: 2),
  ]) func wrongBytesAreRefused(_ text: String) {
    #expect(throws: ProtocolError.self) { try parse(text) }
  }

  /// A reply arrives in many pieces. The parser reads each byte once, and does not begin the reply again with each piece.
  @Test func theCostOfALongReplyGrowsWithItsLength() throws {
    let element = Array("$4000\r\n".utf8) + [UInt8](repeating: 97, count: 4000) + [13, 10]
    let count = 12_000
    var parser = RESPParser()
    let time = try processorTime {
      parser.append(Array("*\(count)\r\n".utf8))
      for _ in 1..<count {
        parser.append(element)
        #expect(try parser.next() == nil)
      }
      parser.append(element)
      let reply = try parser.next()
      #expect(reply?.list?.count == count && reply?.list?.last?.bytes?.count == 4000)
    }
    #expect(time < .seconds(20))
  }

  @Test func aLineWithoutAnEndAndAReplyThatIsTooLongAreRefused() throws {
    #expect(throws: ProtocolError.self) {
      try parse("+" + String(repeating: "a", count: RESPParser.longestLine + 10))
    }
    let string = Array("$33554432\r\n".utf8) + [UInt8](repeating: 97, count: 1 << 25) + [13, 10]
    var parser = RESPParser()
    parser.append("*4\r\n".utf8)
    #expect(throws: ProtocolError.self) {
      for _ in 0..<4 {
        parser.append(string)
        _ = try parser.next()
      }
    }
  }

  @Test func commandsAreEncodedByLength() {
    let command = Command([Array("GET".utf8), [13, 10, 0]], timeout: .seconds(1))
    #expect(command.encoded == Array("*2\r\n$3\r\nGET\r\n$3\r\n\r\n\0\r\n".utf8))
  }

  private func random(_ rng: inout SeededRNG, depth: Int = 0) -> (Reply, [UInt8]) {
    switch rng.next(in: 0..<(depth < 4 ? 6 : 5)) {
    case 0: return (.null, Array("$-1\r\n".utf8))
    case 1:
      let number = Int64.random(in: .min ... .max, using: &rng)
      return (.number(number), Array(":\(number)\r\n".utf8))
    case 2: return (.failure("ERR x"), Array("-ERR x\r\n".utf8))
    case 3: return (.bytes(Array("OK".utf8)), Array("+OK\r\n".utf8))
    case 4:
      let bytes = (0..<rng.next(in: 0..<60)).map { _ in UInt8.random(in: 0...255, using: &rng) }
      return (.bytes(bytes), Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10])
    default:
      let parts = (0..<rng.next(in: 0..<5)).map { _ in random(&rng, depth: depth + 1) }
      return (.list(parts.map(\.0)), Array("*\(parts.count)\r\n".utf8) + parts.flatMap(\.1))
    }
  }

  @Test func repliesComeBackHoweverTheyAreCut() throws {
    var rng = SeededRNG()
    for _ in 0..<200 {
      let replies = (0..<5).map { _ in random(&rng) }
      var bytes = replies.flatMap(\.1)[...]
      var parser = RESPParser()
      var found: [Reply] = []
      while !bytes.isEmpty {
        let count = min(bytes.count, rng.next(in: 1..<40))
        parser.append(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        while let reply = try parser.next() { found.append(reply) }
      }
      #expect(found == replies.map(\.0), "LARDER_SEED=\(rng.seed)")
      #expect(parser.waiting == 0)
    }
  }

  @Test func damagedBytesNeverTrap() {
    var rng = SeededRNG()
    for _ in 0..<3000 * TestSettings.trials {
      var bytes = random(&rng).1 + random(&rng).1
      for _ in 0..<rng.next(in: 1..<6) {
        let index = rng.next(in: 0..<bytes.count)
        switch rng.next(in: 0..<4) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &rng)
        case 1: bytes.insert(contentsOf: "*999\r\n".utf8, at: index)
        case 2: bytes.insert(contentsOf: "9".utf8, at: index)
        default: if bytes.count > 1 { bytes.remove(at: index) }
        }
      }
      var parser = RESPParser()
      parser.append(bytes)
      do {
        // Each reply has at least three bytes, so the length of the input bounds the number of replies.
        var count = 0
        while try parser.next() != nil { count += 1 }
        #expect(count <= bytes.count / 3, "LARDER_SEED=\(rng.seed)")
      } catch {
        // A client closes the connection after an error, so the rest of these bytes does not matter.
      }
    }
  }
}
