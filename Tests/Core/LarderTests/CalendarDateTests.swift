import Foundation
import LarderSystem
import Testing

@testable import Larder

@Suite struct CalendarDateTests {
  @Test func `every day of four centuries is the next one of the calendar`() {
    var expected = (year: Int64(1900), month: Int64(1), day: Int64(1))
    var date = CalendarDate(year: 1900, month: 1, day: 1)
    for _ in 0..<146_097 {
      let found = date.components
      #expect(found == expected)
      #expect(CalendarDate(year: found.year, month: found.month, day: found.day) == date)
      let days: Int64 =
        switch expected.month {
        case 2: CalendarDate.isLeap(expected.year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
      expected.day += 1
      if expected.day > days { (expected.day, expected.month) = (1, expected.month + 1) }
      if expected.month > 12 { (expected.month, expected.year) = (1, expected.year + 1) }
      date.number += 1
    }
    #expect(date.components == (2300, 1, 1))
  }

  @Test func `days before the epoch and weekdays`() {
    #expect(CalendarDate(wall: -1).components == (1969, 12, 31))
    #expect(CalendarDate(number: 0).weekday == 4)
    #expect(CalendarDate(number: -5).weekday == 6)
    #expect(CalendarDate(year: 0, month: 3, day: 1).components == (0, 3, 1))
    #expect(CalendarDate(year: -400, month: 2, day: 29).components == (-400, 2, 29))
  }

  @Test func `the time of day is what clocks show`() throws {
    func moment(_ text: String) throws -> Timestamp {
      Timestamp(try Date(text, strategy: .iso8601))
    }
    let zurich = "Europe/Zurich"
    #expect(
      try TimeOfDay(of: moment("2026-03-29T00:59:59Z"), in: zurich) == TimeOfDay(1, 59, 59))
    #expect(try TimeOfDay(of: moment("2026-03-29T01:00:00Z"), in: zurich) == TimeOfDay(3))
    #expect(try TimeOfDay(of: moment("2026-10-25T01:30:00Z"), in: zurich) == TimeOfDay(2, 30))
    #expect(try TimeOfDay(of: moment("1969-12-31T23:59:59Z"), in: "UTC") == TimeOfDay(23, 59, 59))
    let nowhere = failure {
      _ = try TimeOfDay(of: Timestamp(milliseconds: 0), in: "Europe/Nowhere")
    }
    #expect(nowhere == .invalidArgument)
  }
}
