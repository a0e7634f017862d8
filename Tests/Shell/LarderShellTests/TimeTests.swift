import TestSupport
import Testing

@testable import ShellLanguage

@Suite struct DurationTests {
  @Test(arguments: [
    ("90s", 90_000), ("15m", 900_000), ("1h30m", 5_400_000), ("1.5h", 5_400_000),
    ("7d", 604_800_000), ("1w", 604_800_000), ("250ms", 250), ("90sec", 90_000), ("15min", 900_000),
    ("2hr", 7_200_000), ("1hour", 3_600_000), ("2hours", 7_200_000), ("1day", 86_400_000),
    ("2days", 172_800_000), ("1week", 604_800_000), ("2weeks", 1_209_600_000), ("0", 0), ("0s", 0),
    ("1w2d3h4m5s6ms", 788_645_006), ("0.001s", 1), ("1.0005s", 1001), ("'15m'", 900_000),
  ]) func `a duration is numbers with units`(text: String, milliseconds: Int64) throws {
    #expect(try word(text).duration() == .milliseconds(milliseconds))
  }

  @Test(arguments: [
    (0, "0 ms"), (250, "250 ms"), (999, "999 ms"), (1000, "1 s"), (48_000, "48 s"),
    (59_499, "59 s"), (59_500, "1 min"), (90_000, "1 min 30 s"), (599_600, "10 min"),
    (840_000, "14 min"), (899_997, "15 min"), (3_590_000, "1 h"), (6_420_000, "1 h 47 min"),
    (15_120_000, "4 h 12 min"), (86_390_000, "1 d"), (187_200_000, "2 d 4 h"),
    (863_000_000, "10 d"), (Int64(1_234) * 86_400_000, "1,234 d"),
  ]) func `a length of time is read at a glance`(milliseconds: Int64, expected: String) {
    #expect(Wording.span(milliseconds) == expected)
  }
}

@Suite struct TimeTests {
  @Test(arguments: [
    ("now", "2026-11-20T21:13:00.000Z"), ("15m", "2026-11-20T21:28:00.000Z"),
    ("0", "2026-11-20T21:13:00.000Z"), ("midnight", "2026-11-20T23:00:00.000Z"),
    ("tomorrow", "2026-11-20T23:00:00.000Z"), ("noon", "2026-11-21T11:00:00.000Z"),
    ("friday", "2026-11-26T23:00:00.000Z"), ("saturday", "2026-11-20T23:00:00.000Z"),
    ("Monday", "2026-11-22T23:00:00.000Z"), ("06:30", "2026-11-21T05:30:00.000Z"),
    ("22:13", "2026-11-21T21:13:00.000Z"), ("22:14", "2026-11-20T21:14:00.000Z"),
    ("2026-11-21", "2026-11-20T23:00:00.000Z"), ("2026-07-01", "2026-06-30T22:00:00.000Z"),
    ("2026-11-21T06:30", "2026-11-21T05:30:00.000Z"),
    ("2026-11-21T06:30:15", "2026-11-21T05:30:15.000Z"),
    ("2026-11-21T06:30Z", "2026-11-21T06:30:00.000Z"),
    ("2026-11-21T06:30:00+01:00", "2026-11-21T05:30:00.000Z"),
    ("2026-11-21T06:30-05:30", "2026-11-21T12:00:00.000Z"),
    ("2026-11-21T06:30:00.125Z", "2026-11-21T06:30:00.125Z"),
    ("'tomorrow 09:00'", "2026-11-21T08:00:00.000Z"), ("'today noon'", "2026-11-20T11:00:00.000Z"),
    ("'monday 04:00'", "2026-11-23T03:00:00.000Z"), ("'Friday 22:14'", "2026-11-20T21:14:00.000Z"),
    ("'2026-11-21 06:30'", "2026-11-21T05:30:00.000Z"), ("'2h 30m'", "2026-11-20T23:43:00.000Z"),
    ("2028-02-29", "2028-02-28T23:00:00.000Z"), ("'2026-11-21'", "2026-11-20T23:00:00.000Z"),
  ]) func `a time is read in the local zone`(text: String, expected: String) throws {
    #expect(try word(text).timeAhead(stockholm).rfc3339 == expected)
  }

  @Test(arguments: [
    ("7d", "2026-11-13T21:13:00.000Z"), ("midnight", "2026-11-19T23:00:00.000Z"),
    ("noon", "2026-11-20T11:00:00.000Z"), ("friday", "2026-11-19T23:00:00.000Z"),
    ("saturday", "2026-11-13T23:00:00.000Z"), ("06:30", "2026-11-20T05:30:00.000Z"),
    ("22:13", "2026-11-20T21:13:00.000Z"), ("2026-11-01", "2026-10-31T23:00:00.000Z"),
    ("'monday 04:00'", "2026-11-16T03:00:00.000Z"), ("'today noon'", "2026-11-20T11:00:00.000Z"),
    ("'1d 2h'", "2026-11-19T19:13:00.000Z"),
  ]) func `a time gone by is the last one`(text: String, expected: String) throws {
    #expect(try word(text).timeAgo(stockholm).rfc3339 == expected)
  }

  @Test func `in UTC the words mean UTC`() throws {
    let utc = clock("2026-11-20T21:13:00Z", in: "UTC")
    #expect(try word("midnight").timeAhead(utc).rfc3339 == "2026-11-21T00:00:00.000Z")
  }

  @Test func `never is a deadline and no moment`() throws {
    #expect(try word("never").deadline(stockholm) == .never)
    #expect(try word("'never'").deadline(stockholm) == .never)
    #expect(try word("'midnight'").deadline(stockholm) == word("midnight").deadline(stockholm))
    #expect(try error { _ = try word("never").timeAhead(stockholm) }.code == .badTime)
    for text in ["tomorrow", "'tomorrow 09:00'", "'2027-01-01 09:00'"] {
      #expect(try error { _ = try word(text).timeAgo(stockholm) }.code == .badTime)
    }
  }

  @Test func `when clocks go forward a skipped time is the moment of the change`() throws {
    // In Stockholm 02:00 becomes 03:00 on 29 March 2026.
    let before = clock("2026-03-28T21:00:00Z", in: "Europe/Stockholm")
    for (text, time) in [
      ("02:00", "29T01:00"), ("02:30", "29T01:00"), ("2026-03-29T02:59:59.999", "29T01:00"),
      ("03:30", "29T01:30"), ("2026-03-29", "28T23:00"), ("2026-03-30", "29T22:00"),
      ("1d", "29T21:00"),
    ] { #expect(try word(text).timeAhead(before).rfc3339 == "2026-03-\(time):00.000Z", "\(text)") }
  }

  @Test func `when clocks go back the next of two equal times is meant`() throws {
    // In Stockholm 03:00 becomes 02:00 on 25 October 2026, at 01:00 UTC.
    let before = clock("2026-10-24T22:00:00Z", in: "Europe/Stockholm")
    #expect(try word("02:30").timeAhead(before).rfc3339 == "2026-10-25T00:30:00.000Z")
    let between = clock("2026-10-25T00:45:00Z", in: "Europe/Stockholm")
    #expect(try word("02:30").timeAhead(between).rfc3339 == "2026-10-25T01:30:00.000Z")
    #expect(try word("02:30").timeAgo(between).rfc3339 == "2026-10-25T00:30:00.000Z")
    let after = clock("2026-10-25T01:30:00Z", in: "Europe/Stockholm")
    #expect(try word("02:30").timeAhead(after).rfc3339 == "2026-10-26T01:30:00.000Z")
  }

  @Test func `a day has one beginning, also where midnight comes twice or is skipped`() throws {
    // In Havana 01:00 becomes 00:00 on 1 November 2026, at 05:00 UTC.
    let between = clock("2026-11-01T04:30:00Z", in: "America/Havana")
    #expect(try word("tomorrow").timeAhead(between).rfc3339 == "2026-11-02T05:00:00.000Z")
    #expect(try word("midnight").timeAhead(between).rfc3339 == "2026-11-01T05:00:00.000Z")
    // In Beirut 00:00 becomes 01:00 on 29 March 2026.
    let before = clock("2026-03-28T12:00:00Z", in: "Asia/Beirut")
    #expect(try word("midnight").timeAhead(before).rfc3339 == "2026-03-28T22:00:00.000Z")
    #expect(before.date(try word("midnight").timeAhead(before)) == "Sun 29 Mar 01:00")
  }

  @Test func `every moment shows a time that means it`() throws {
    var generator = SeededRNG()
    for zone in ["Europe/Stockholm", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"] {
      let clock = clock("2026-11-20T21:13:00Z", in: zone)
      for _ in 0..<500 {
        let time = UnixTime(
          milliseconds: Int64.random(in: 0...4_102_444_800_000, using: &generator))
        let moments = clock.moments(of: clock.civil(time))
        #expect(moments.contains(time), "LARDER_SEED=\(generator.seed): \(time.rfc3339) in \(zone)")
        let read = try word(time.rfc3339).timeAhead(clock)
        #expect(read == time, "LARDER_SEED=\(generator.seed): \(time.rfc3339)")
      }
    }
  }
}

@Suite struct TimeWordingTests {
  private func after(_ milliseconds: Int64) -> UnixTime {
    UnixTime(milliseconds: stockholm.now.milliseconds + milliseconds)
  }

  @Test func `an expiry is told by its distance, and a date has a year that is another`() throws {
    for (text, date) in [("midnight", "Sat 21 Nov 00:00"), ("2027-01-01", "Fri 1 Jan 2027 00:00")] {
      #expect(stockholm.date(try word(text).timeAhead(stockholm)) == date)
    }
    #expect(stockholm.expiryAndClock(after(4_320_000)) == "in 1 h 12 min (today 23:25)")
    #expect(stockholm.expiryAndClock(after(900_000)) == "in 15 min (22:28)")
    #expect(stockholm.expiryAndClock(after(48_000)) == "in 48 s")
    #expect(stockholm.expiryAndClock(after(187_200_000)) == "in 2 d 4 h (Mon 02:13)")
    #expect(stockholm.expiryAndClock(after(28_800_000)) == "in 8 h (tomorrow 06:13)")
    #expect(stockholm.expiryAndClock(after(864_000_000)) == "in 10 d (Mon 30 Nov 22:13)")
    #expect(stockholm.expiryAndClock(nil) == "never")
    #expect(stockholm.expiryAndClock(after(-180_000)) == "expired 3 min ago")
    #expect(stockholm.distance(to: after(-120_000)) == "2 min ago")
    #expect(stockholm.distance(to: after(0)) == "now")
  }
}
