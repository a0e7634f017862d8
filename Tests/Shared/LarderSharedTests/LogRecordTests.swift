import TestSupport
import Testing

@testable import LarderShared

/// Records of the log as the server sends them.
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

  @Test func `a record of a later version has a place`() {
    let reply = Self.reply("grow 0123456789ab cdef01234567 6 prices")
    #expect(LogRecord(reply) == nil)
    #expect(LogRecord(reply, ofAnyKind: true)?.digest == 0x0123_4567_89ab)
  }

  @Test(arguments: [
    "", "set", "set 0123456789ab cdef01234567 3", "set 0123456789ab cdef01234567 7 prices",
    "set 0123456789ab cdef01234567 -1 prices", "set 0123456789ab cdef01234567 x prices",
    "set 0123456789ab cdef01234567 99999999999999999999 prices",
    "set 0123456789a cdef01234567 6 prices", "set 0123456789ag cdef01234567 6 prices",
    "set 0123456789ab cdef 6 prices", "set 0123456789ab  6 prices",
    "grow 0123456789ab cdef01234567 6 prices", "clear 0123456789ab cdef01234567 1 \u{e9}",
  ])
  func `a record with a defect is none`(text: String) {
    #expect(LogRecord(Self.reply(text)) == nil)
  }

  @Test func `a record of another form is none`() {
    let text = "set 0123456789ab cdef01234567 6 pricesKEY"
    #expect(LogRecord(Self.reply(text)) != nil)
    #expect(LogRecord(Self.reply(text, field: "kind")) == nil)
    #expect(LogRecord(Self.reply(text, id: "17")) == nil)
    #expect(LogRecord(.list([.bytes(Array("17-3".utf8)), .list([])])) == nil)
    #expect(LogRecord(.null) == nil)
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
