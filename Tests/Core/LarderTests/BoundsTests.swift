import Larder
import Testing

@Suite struct BoundsTests {
  @Test func `a rule with a negative lifetime is refused`() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    #expect {
      try store.declare(Rules(expires: .after(.seconds(-5))), for: "notes")
    } throws: {
      ($0 as? LarderError)?.code == .invalidArgument
    }
    #expect(try store.namespaces().isEmpty)
  }

  @Test func `there is no cursor behind a key that cannot be`() throws {
    let notes = try Store.temporary(options: Store.Options(clock: ManualClock())).namespace("notes")
    #expect {
      try notes.cursor(after: "")
    } throws: {
      ($0 as? LarderError)?.code == .invalidArgument
    }
  }

  @Test func `a year that RFC 3339 cannot say is said as a number`() {
    #expect(
      Timestamp(milliseconds: 253_402_300_799_999).description == "9999-12-31T23:59:59.999Z")
    #expect(
      Timestamp(milliseconds: 253_402_300_800_000).description
        == "253402300800000 ms since 1970")
    #expect(Timestamp(milliseconds: .min).description == "\(Int64.min) ms since 1970")
  }
}
