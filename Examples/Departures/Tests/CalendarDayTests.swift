import Departures
import Foundation
import Larder
import Testing

/// Days as keys name them, in zones whose days are not all equally long.
@Suite struct CalendarDayTests {
  private let zurich = "Europe/Zurich"

  private func moment(_ text: String) throws -> Timestamp {
    Timestamp(try Date(text, strategy: .iso8601))
  }

  @Test(arguments: [
    ("2026-03-28T22:59:59Z", "2026-03-28"), ("2026-03-28T23:00:00Z", "2026-03-29"),
    // Clocks go forward on the 29th: its end is an hour earlier by UTC than its begin.
    ("2026-03-29T21:59:59Z", "2026-03-29"), ("2026-03-29T22:00:00Z", "2026-03-30"),
    ("2026-10-24T22:00:00Z", "2026-10-25"), ("2026-10-25T22:59:59Z", "2026-10-25"),
    ("2026-10-25T23:00:00Z", "2026-10-26"), ("1969-12-31T23:00:00Z", "1970-01-01"),
  ]) func `the day of a moment in Zurich`(moment: String, day: String) throws {
    #expect(try CalendarDay(of: self.moment(moment), in: zurich).description == day)
  }

  @Test(arguments: [
    "", "2026-02-29", "2026-02-30", "2026-13-01", "2026-00-10", "2026-1-01", "26-01-01",
    "2026-01-01 ", "-026-01-01", "2026-+1-01", "2026/01/01",
  ]) func `invalid days`(text: String) { #expect(CalendarDay(text) == nil) }

  @Test func `days follow each other to the end of the calendar`() throws {
    let day = try #require(CalendarDay("2028-02-28"))
    #expect((1...3).map { day.advanced(by: $0).description }.last == "2028-03-02")
    #expect(day < day.advanced(by: 1) && day.advanced(by: -365) < day)
    #expect(try day.startInUTC == moment("2028-02-28T00:00:00Z"))
    let last = try #require(CalendarDay("9999-12-31"))
    #expect(last.advanced(by: 1) == last)
    #expect(try SwissTime.span(of: last).isEmpty)
  }

  @Test func `it is coded as its text`() throws {
    let day = try #require(CalendarDay("2028-02-29"))
    let bytes = try JSONEncoder().encode([day])
    #expect(String(decoding: bytes, as: UTF8.self) == #"["2028-02-29"]"#)
    #expect(try JSONDecoder().decode([CalendarDay].self, from: bytes) == [day])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CalendarDay].self, from: Data(#"["2027-02-29"]"#.utf8))
    }
  }

  @Test func `a zone that is not known is an error`() {
    #expect(throws: LarderError.self) {
      try CalendarDay(of: Timestamp(milliseconds: 0), in: "Europe/Nowhere")
    }
  }
}
