import Larder
import LarderSystem
import TestSupport
import Testing

@testable import LarderShared

@Suite struct FrameTests {
  private let key = SharedKey.a

  private func random(_ rng: inout SeededRNG) -> Frame {
    let isAbsent = rng.chance(percent: 10)
    func field() -> [UInt8]? {
      rng.chance(percent: 30) ? Array(repeating: 7, count: rng.next(in: 0..<9)) : nil
    }
    let validators = Validators(entityTag: field(), lastModified: field())
    return Frame(
      codec: CodecID(rawValue: UInt8.random(in: 0...255, using: &rng)),
      soft: .milliseconds(rng.next(in: 0..<100_000_000)),
      stale: .milliseconds(rng.next(in: 0..<100_000)),
      tags: (0..<rng.next(in: 0..<4)).map { "tag \($0)" }, validators: validators,
      value: isAbsent || rng.chance(percent: 10) ? nil : rng.bytes(rng.next(in: 0..<300)),
      isAbsent: isAbsent)
  }

  @Test func everyFrameComesBack() {
    var rng = SeededRNG()
    for _ in 0..<300 {
      let frame = random(&rng)
      let key = SharedKey(namespace: "n", bytes: Array(repeating: 7, count: rng.next(in: 1..<3000)))
      let parsed = Frame.parse(frame.encoded(for: key, of: "shop"), for: key, of: "shop")
      #expect(parsed == .frame(frame), "LARDER_SEED=\(rng.seed)")
    }
  }

  @Test func everyFlippedBitAndEveryCutIsFound() {
    var rng = SeededRNG()
    for _ in 0..<20 {
      let bytes = random(&rng).encoded(for: key, of: "shop")
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(rng.next(in: 0..<8))
        #expect(Frame.parse(damaged, for: key, of: "shop") == .damaged, "LARDER_SEED=\(rng.seed)")
        #expect(Frame.parse(Array(bytes.prefix(index)), for: key, of: "shop") == .damaged)
      }
    }
  }

  @Test func aLaterLayoutIsOneWithTheRightChecksum() {
    var rng = SeededRNG()
    for layout in Frame.newestLayout + 1 ... .max {
      var bytes = Array(random(&rng).encoded(for: key, of: "shop").dropLast(8))
      bytes[0] = layout
      bytes.append(bigEndian: Frame.checksum(of: bytes, for: key, "shop"))
      #expect(Frame.parse(bytes, for: key, of: "shop") == .newer)
      #expect(Frame.parse(bytes, for: key, of: "sho") == .damaged)
    }
  }

  /// Earlier versions of Larder read only the first layout. So a frame has the second layout only if the first is not enough.
  @Test func onlyAFrameThatNeedsTheSecondLayoutHasIt() {
    func layout(_ frame: Frame) -> UInt8? { frame.encoded(for: key, of: "shop").first }
    var frame = Frame(codec: .text, soft: nil, stale: .zero, tags: ["t"], value: [1])
    #expect(layout(frame) == 1)
    frame.validators.entityTag = []
    #expect(layout(frame) == 2)
    frame = Frame(codec: .text, soft: nil, stale: .zero, tags: [], value: nil)
    #expect(layout(frame) == 1)
    frame.isAbsent = true
    #expect(layout(frame) == 2)
  }

  /// A hostile server can send frames with correct checksums. The parser must not read beyond the end of such a frame.
  @Test func forgedFramesNeverTrap() {
    var rng = SeededRNG()
    for _ in 0..<5000 {
      var bytes = Array(random(&rng).encoded(for: key, of: "shop").dropLast(8))
      for _ in 0..<rng.next(in: 1..<4) {
        bytes[rng.next(in: 1..<bytes.count)] = [0, 1, 127, 128, 255].randomElement(using: &rng)!
      }
      bytes.append(bigEndian: Frame.checksum(of: bytes, for: key, "shop"))
      if case .frame(let frame) = Frame.parse(bytes, for: key, of: "shop") {
        #expect(frame.soft <= Frame.longest && frame.stale <= Frame.longest)
        #expect(frame.hard > .zero)
      }
    }
  }

  @Test func aFrameIsGoodForItsOwnKeyOnly() {
    let bytes = Frame(codec: .text, soft: nil, stale: .zero, tags: [], value: [1])
      .encoded(for: key, of: "shop")
    let other = SharedKey(namespace: "prices", bytes: Array("b".utf8))
    let otherNamespace = SharedKey(namespace: "price", bytes: Array("sa".utf8))
    #expect(Frame.parse(bytes, for: other, of: "shop") == .damaged)
    #expect(Frame.parse(bytes, for: otherNamespace, of: "shop") == .damaged)
    #expect(Frame.parse(bytes, for: key, of: "sho") == .damaged)
    #expect(Frame.parse(bytes, for: key, of: "shop") != .damaged)
  }

  @Test func positionsAreParsedStrictly() {
    let good = Position(milliseconds: 1_700_000_000_000, sequence: 3)
    #expect(Position(id: Array("1700000000000-3".utf8)) == good)
    #expect(Position(bytes: good.bytes) == good)
    let limit = "\(UInt64.max)-\(UInt64.max)"
    #expect(Position(id: Array(limit.utf8))?.description == limit)
    for bad in [
      "", "-", "1", "1-", "-1", "1-2-3", "+1-2", "1- 2", "18446744073709551616-0", "1-\0",
    ] { #expect(Position(id: Array(bad.utf8)) == nil, "\(bad)") }
  }

  /// A position in one word has only 20 bits of the sequence number. Still, the next position must have a higher word.
  @Test func aPositionThatIsFollowedByAnotherOneHasAWordOfItsOwn() {
    for sequence in [0, 1, 1 << 20 - 3, 1 << 20 - 2, 1 << 20 - 1, 1 << 40] as [UInt64] {
      let position = Position(milliseconds: 7, sequence: sequence)
      #expect(position.next > position && !position.next.isBeyondWord)
      #expect(position.next.word > position.word)
    }
  }

  /// A Redis cluster chooses the slot of a key by the text in the first braces, so all keys of an application share this text.
  @Test func allKeysOfAnApplicationAreInOneSlotAndThoseOfOthersInOthers() throws {
    let applications = (0..<50).map { "shop-\($0)" }
    let tags = try applications.map { application -> [UInt8] in
      let names = try TierNames(application: application)
      let key = SharedKey(namespace: "n{x}", bytes: Array("}{0}".utf8))
      let all = [
        names.log, names.head, names.time, names.nothing, names.value(key), names.lease(key),
        names.floor(namespace: "n"), names.floor(tag: "{t}"),
      ]
      let tags = all.map { name in
        Array(name.drop { $0 != UInt8(ascii: "{") }.dropFirst().prefix { $0 != UInt8(ascii: "}") })
      }
      #expect(Set(tags).count == 1)
      #expect(all.allSatisfy { $0.starts(with: (application + ":").utf8) })
      return tags[0]
    }
    #expect(Set(tags).count == applications.count && !tags.contains([]))
  }

  @Test func onlyPlainNamesNameAnApplication() {
    for bad in ["", "a:b", "a{b}", "a b", "ä", String(repeating: "a", count: 101)] {
      #expect(throws: LarderError.self) { try TierNames(application: bad) }
    }
    #expect(throws: Never.self) { try TierNames(application: "shop-2.test_A") }
  }
}

/// Records of the log in the form in which the server sends them.
@Suite struct LogRecordTests {
  private static func reply(_ text: String, field: String = "c", id: String = "17-3") -> Reply {
    .list([.bytes(Array(id.utf8)), .list([.bytes(Array(field.utf8)), .bytes(Array(text.utf8))])])
  }

  private static let position = Position(id: Array("17-3".utf8))!

  @Test func `each kind of record is read`() {
    let key = SharedKey(namespace: "p q", bytes: Array(" a b".utf8))
    let subjects: [(String, LogRecord.Subject)] = [
      ("set 0123456789ab cdef01234567 3 p q a b", .key(key)),
      ("remove 0123456789ab cdef01234567 3 p q a b", .key(key)),
      ("clear 0123456789ab cdef01234567 3 p q", .namespace("p q")),
      ("invalidate 0123456789ab cdef01234567 0 ", .tag("")),
    ]
    for (text, subject) in subjects {
      let record = LogRecord(
        position: Self.position, digest: 0x0123_4567_89ab, previous: 0xcdef_0123_4567,
        subject: subject)
      #expect(LogRecord(Self.reply(text)) == record, "\(text)")
    }
    let first = LogRecord(Self.reply("begin 0123456789ab - 0 "))
    #expect(first?.previous == nil && first?.subject == .nothing && first?.digest != nil)
  }

  @Test func `a record of a later version has a place, and one of another form is none`() {
    let reply = Self.reply("grow 0123456789ab cdef01234567 6 prices")
    #expect(LogRecord(reply) == nil)
    #expect(LogRecord(reply, ofAnyKind: true)?.digest == 0x0123_4567_89ab)
    let text = "set 0123456789ab cdef01234567 6 pricesKEY"
    #expect(LogRecord(Self.reply(text)) != nil)
    #expect(LogRecord(Self.reply(text, field: "kind")) == nil)
    #expect(LogRecord(Self.reply(text, id: "17")) == nil)
    #expect(LogRecord(.list([.bytes(Array("17-3".utf8)), .list([])])) == nil)
    #expect(LogRecord(.null) == nil)
  }

  @Test(arguments: [
    "", "set", "set 0123456789ab cdef01234567 3", "set 0123456789ab cdef01234567 7 prices",
    "set 0123456789ab cdef01234567 -1 prices", "set 0123456789ab cdef01234567 x prices",
    "set 0123456789ab cdef01234567 99999999999999999999 prices",
    "set 0123456789a cdef01234567 6 prices", "set 0123456789ag cdef01234567 6 prices",
    "set 0123456789ab cdef 6 prices", "set 0123456789ab  6 prices",
    "grow 0123456789ab cdef01234567 6 prices", "clear 0123456789ab cdef01234567 1 \u{e9}",
  ]) func `a record with a defect is none`(text: String) {
    #expect(LogRecord(Self.reply(text)) == nil)
  }

  @Test func `changed bytes of a record never trap`() {
    var rng = SeededRNG()
    let text = Array("set 0123456789ab cdef01234567 6 pricesKEY".utf8)
    for _ in 0..<2000 * TestSettings.trials {
      var bytes = text
      for _ in 0..<Int.random(in: 1...3, using: &rng) {
        let index = Int.random(in: 0..<bytes.count, using: &rng)
        if Bool.random(using: &rng) {
          bytes[index] = .random(in: 0...255, using: &rng)
        } else {
          bytes.remove(at: index)
        }
      }
      _ = LogRecord(
        .list([.bytes(Array("17-3".utf8)), .list([.bytes(Array("c".utf8)), .bytes(bytes)])]))
    }
  }
}
