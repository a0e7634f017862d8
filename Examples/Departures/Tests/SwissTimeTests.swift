import Departures
import ExampleTesting

/// Days and moments in Zurich.
@Suite struct SwissTimeTests {
  @Test(arguments: [
    ("2026-03-28T22:59:59Z", "2026-03-28"), ("2026-03-28T23:00:00Z", "2026-03-29"),
    // Clocks go forward on the 29th: its end is an hour earlier by UTC than its begin.
    ("2026-03-29T21:59:59Z", "2026-03-29"), ("2026-03-29T22:00:00Z", "2026-03-30"),
    ("2026-10-24T22:00:00Z", "2026-10-25"), ("2026-10-25T22:59:59Z", "2026-10-25"),
    ("2026-10-25T23:00:00Z", "2026-10-26"), ("1969-12-31T23:00:00Z", "1970-01-01"),
  ]) func `the day of a moment`(text: String, day: String) throws {
    #expect(try CalendarDay(of: moment(text)).description == day)
  }

  @Test(arguments: [
    "", "2026-02-29", "2026-02-30", "2026-13-01", "2026-00-10", "2026-1-01", "26-01-01",
    "2026-01-01 ", "12026-01-01", "-026-01-01", "2026-+1-01", "2026/01/01",
  ]) func `invalid days`(text: String) {
    #expect(CalendarDay(text) == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CalendarDay].self, from: JSONEncoder().encode([text]))
    }
  }

  @Test func `days follow each other to the end of the calendar`() throws {
    let day = try #require(CalendarDay("2028-02-28"))
    #expect((1...3).map { day.advanced(by: $0).description }.last == "2028-03-02")
    #expect(day < day.advanced(by: 1) && day.advanced(by: -365) < day)
    #expect(try day.startInUTC == moment("2028-02-28T00:00:00Z"))
    let last = try #require(CalendarDay("9999-12-31"))
    #expect(try last.advanced(by: 1) == last && last.span.isEmpty)
    let bytes = try JSONEncoder().encode([day])
    #expect(String(decoding: bytes, as: UTF8.self) == #"["2028-02-28"]"#)
    #expect(try JSONDecoder().decode([CalendarDay].self, from: bytes) == [day])
  }

  @Test(arguments: [
    ("2025-07-12T09:00:00+0200", 1_752_303_600), ("2025-07-12T09:00:00+02:00", 1_752_303_600),
    ("2025-07-12T07:00:00Z", 1_752_303_600), ("2025-07-12T02:30:00-0430", 1_752_303_600),
    ("2025-10-26T02:30:00+0200", 1_761_438_600), ("2025-10-26T02:30:00+0100", 1_761_442_200),
    ("2025-07-12T09:00:00.000+0200", 1_752_303_600), ("2025-07-12T09:00+0200", 1_752_303_600),
    ("2025-07-12T09:00:00+02", 1_752_303_600), ("2025-07-12T07:00:00.9Z", 1_752_303_600),
    ("2025-07-12T09:00+02:00", 1_752_303_600), ("2025-07-12T04:00-03", 1_752_303_600),
  ]) func `moments with their offsets`(text: String, second: Int64) {
    #expect(SwissTime.moment(text)?.milliseconds == second * 1000)
  }

  @Test(arguments: [
    "", "2025-07-12", "2025-07-12T09:00:00", "2025-07-12T09:00:00+2", "2025-02-30T09:00:00+0200",
    "2025-07-12T09:61:00+0200", "2025-07-12T09:00:00+-200", "2025-07-12T+0200", "T",
    "2025-07-12T09:00:00.+0200", "2025-07-12T09:00.5+0200", "2025-07-12T9:00:00+0200",
    "2025-07-12T09:00:+0200", "2025-07-12T09:00:0+0200", "2025-07-12T09+0200",
    "2025-07-12T09:00:00+020",
  ]) func `invalid moments`(text: String) { #expect(SwissTime.moment(text) == nil) }
}
