import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct ZoneRulesTests {
  private func seconds(_ text: String) throws -> Int64 {
    Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
  }

  /// Times of day. `next` is the first moment after `now` at which the zone's clocks show the time. Both moments are in UTC.
  private static let cases: [(zone: String, time: TimeOfDay, now: String, next: String)] = [
    ("Europe/Zurich", TimeOfDay(0), "2026-01-15T12:00:00Z", "2026-01-15T23:00:00Z"),
    ("Europe/Zurich", TimeOfDay(0), "2026-07-15T12:00:00Z", "2026-07-15T22:00:00Z"),
    ("Europe/Zurich", TimeOfDay(4), "2026-01-15T02:59:59Z", "2026-01-15T03:00:00Z"),
    ("Europe/Zurich", TimeOfDay(4), "2026-01-15T03:00:00Z", "2026-01-16T03:00:00Z"),
    // On 29 March 2026, the clocks in Zurich go from 01:59:59 to 03:00. A skipped time means the moment of the change.
    ("Europe/Zurich", TimeOfDay(2, 0), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Zurich", TimeOfDay(2, 30), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Zurich", TimeOfDay(2, 59), "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Zurich", TimeOfDay(2, 30), "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
    ("Europe/Zurich", TimeOfDay(4), "2026-03-28T12:00:00Z", "2026-03-29T02:00:00Z"),
    // On 25 October 2026, the clocks go from 02:59:59 back to 02:00. If a time of day comes twice, the first moment counts.
    ("Europe/Zurich", TimeOfDay(2, 30), "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
    ("Europe/Zurich", TimeOfDay(2, 30), "2026-10-25T00:45:00Z", "2026-10-26T01:30:00Z"),
    ("Europe/Zurich", TimeOfDay(4), "2026-10-24T12:00:00Z", "2026-10-25T03:00:00Z"),
    // On Lord Howe, the clocks go from 01:59:59 to 02:30 on 4 October 2026, and from 01:59:59 back to 01:30 on 5 April 2026.
    ("Australia/Lord_Howe", TimeOfDay(2, 10), "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", TimeOfDay(1, 45), "2026-04-04T12:00:00Z", "2026-04-04T14:45:00Z"),
    ("Australia/Lord_Howe", TimeOfDay(1, 45), "2026-04-04T14:50:00Z", "2026-04-05T15:15:00Z"),
    // Samoa skipped the whole day 30 December 2011, so the next 04:00 was on 31 December.
    ("Pacific/Apia", TimeOfDay(4), "2011-12-30T00:00:00Z", "2011-12-30T14:00:00Z"),
    ("Asia/Kathmandu", TimeOfDay(0), "2026-05-01T00:00:00Z", "2026-05-01T18:15:00Z"),
    ("Pacific/Chatham", TimeOfDay(12), "2026-07-01T00:00:00Z", "2026-07-01T23:15:00Z"),
    // The clocks went from 23:59:59 on 3 November 2018 to 01:00, so there was no midnight.
    ("America/Sao_Paulo", TimeOfDay(0), "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"),
    ("UTC", TimeOfDay(0), "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
  ]

  @Test(arguments: cases)
  func `a time of day comes when the clocks of its zone show it`(
    _ expected: (zone: String, time: TimeOfDay, now: String, next: String)
  ) throws {
    let now = Timestamp(milliseconds: try seconds(expected.now) * 1000)
    let next = try ZoneRules.next(expected.time, in: expected.zone, after: now)
    #expect(try next.milliseconds == seconds(expected.next) * 1000)
  }

  @Test func `a day that a zone left out has no time of day`() throws {
    let before = Timestamp(milliseconds: try seconds("2011-12-29T12:00:00Z") * 1000)
    for time in [TimeOfDay(0), TimeOfDay(4), TimeOfDay(23, 59)] {
      let last = try ZoneRules.next(time, in: "Pacific/Apia", after: before)
      let after = try ZoneRules.next(time, in: "Pacific/Apia", after: last)
      #expect(last.duration(to: after) == .hours(24), "\(time)")
    }
  }

  @Test func `offsets agree with Foundation's for every zone since 1970`() throws {
    var random = SeededRNG()
    // Omits later years, because Foundation and the system may have different versions of the rules for these years.
    let moments = (try seconds("1970-01-01T00:00:00Z"), try seconds("2024-01-01T00:00:00Z"))
    var zones = 0
    for name in TimeZone.knownTimeZoneIdentifiers {
      // Skips zones that Foundation knows, but that have no file in the system's database.
      guard let zone = TimeZone(identifier: name),
        FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/" + name)
      else { continue }
      let rules = try ZoneRules.named(name)
      zones += 1
      for _ in 0..<50 {
        let moment = Int64.random(in: moments.0..<moments.1, using: &random)
        let expected = zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment)))
        #expect(
          rules.offset(at: moment) == Int64(expected),
          "\(name) \(moment), LARDER_SEED=\(random.seed)")
      }
    }
    #expect(zones > 300)
  }

  @Test func `a name that leads out of the database or nowhere is refused, and named`() {
    let names = [
      "", ".", "..", "../Europe/Zurich", "Europe/../Europe/Zurich", "/etc/passwd", "Europe//Zurich",
      "Europe/", "Mars/Olympus", "Z\u{FC}rich", "Europe/Zurich\0", "tzdata.zi", "Europe",
      String(repeating: "a", count: 200),
    ]
    for name in names {
      let error = thrown { _ = try ZoneRules.named(name) }
      #expect(error?.code == .invalidArgument, "\(name)")
      #expect(error?.message.contains("\"\(name)\"") == true, "\(name)")
    }
  }

  @Test func `rules for all years are read as POSIX writes them`() throws {
    let zurich = try #require(YearlyChanges("CET-1CEST,M3.5.0,M10.5.0/3".utf8))
    #expect(zurich.offset(at: try seconds("2500-07-01T00:00:00Z")) == 7200)
    #expect(zurich.offset(at: try seconds("2500-12-31T23:59:59Z")) == 3600)
    let dublin = try #require(YearlyChanges("IST-1GMT0,M10.5.0,M3.5.0/1".utf8))
    #expect(dublin.offset(at: try seconds("2026-07-01T00:00:00Z")) == 3600)
    #expect(dublin.offset(at: try seconds("2026-12-01T00:00:00Z")) == 0)
    // By this rule summer time lasts all year, because each summer time ends at the moment when the next one begins.
    let always = try #require(YearlyChanges("XXX3EDT4,0/0,J365/23".utf8))
    for text in ["2026-01-01T02:59:59Z", "2026-01-01T04:00:00Z", "2026-07-01T00:00:00Z"] {
      #expect(always.offset(at: try seconds(text)) == -14400)
    }
    #expect(YearlyChanges("<+0545>-5:45".utf8)?.standard == 20700)
    #expect(YearlyChanges("EET-2EEST,M3.4.4/50,M10.4.4/50".utf8) != nil)
    #expect(YearlyChanges("<-02>2<-01>,M3.5.0/-1,M10.5.0/0".utf8) != nil)
    for text in [
      "", "C", "CET", "CET-", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
      "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/", "CET-99", "CET-1 ", "<CET-1",
      "CET-1CEST,J0,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0,M10.5.0/3,", "CET-9999999999",
    ] { #expect(YearlyChanges(text.utf8) == nil, "\(text)") }
  }

  /// A time zone file. The zone is an hour ahead of UTC, and has one change, at `moment`.
  private func file(changingAt moment: Int64) -> [UInt8] {
    func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
    }
    func table(_ times: [Int64]) -> [UInt8] {
      let counts = [0, 0, 0, UInt32(times.count), 1, 4].flatMap(bigEndian)
      let head = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts
      let kinds = [UInt8](repeating: 0, count: times.count)
      return head + times.flatMap(bigEndian) + kinds + bigEndian(Int32(3600)) + [0, 0]
        + Array("ABC\0".utf8)
    }
    return table([]) + table([moment]) + Array("\n\n".utf8)
  }

  @Test(arguments: [Int64.max, .max - 7199, .min, 1 << 61])
  func `a change at the end of time makes a file unusable`(moment: Int64) throws {
    #expect(throws: ZoneRules.Flaw.self) { try ZoneRules(file: file(changingAt: moment)) }
  }

  @Test(arguments: [-(1 << 59), 0, 1 << 60] as [Int64])
  func `a change far away is read`(moment: Int64) throws {
    let rules = try ZoneRules(file: file(changingAt: moment))
    for now: Int64 in [.min / 1000, 0, .max / 1000] {
      #expect(rules.next(secondOfDay: 14_400, after: now).map { $0 > now } == true)
    }
  }

  @Test func `a pipe and a device are not read as time zones`() throws {
    try withTemporaryDirectory { path in
      #expect(unsafe mkfifo(path + "/Pipe", 0o600) == 0)
      try FileManager.default.createSymbolicLink(
        atPath: path + "/Zero", withDestinationPath: "/dev/zero")
      for name in ["Pipe", "Zero"] {
        #expect(failure { _ = try ZoneRules.load(name, from: [path]) } == .invalidArgument)
      }
    }
  }

  @Test func `random bytes are refused or read, and never trap`() throws {
    var random = SeededRNG()
    let real = try ["Europe/Zurich", "Pacific/Apia", "America/New_York"].map { name in
      Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/" + name)))
    }
    for round in 0..<4000 {
      var bytes: [UInt8]
      if round % 4 == 0 {
        bytes = random.bytes(random.next(in: 0..<300))
        if round % 8 == 0 { bytes = Array("TZif2".utf8) + bytes }
      } else {
        bytes = real.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1..<8, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          bytes[place] = .random(in: 0...255, using: &random)
        }
        if round % 3 == 0 { bytes.removeLast(.random(in: 0..<bytes.count, using: &random)) }
      }
      guard let rules = try? ZoneRules(file: bytes) else { continue }
      for now: Int64 in [.min / 1000, -1, 0, 1_700_000_000, .max / 1000] {
        let next = rules.next(secondOfDay: 14_400, after: now)
        #expect(next.map { $0 > now } ?? true, "LARDER_SEED=\(random.seed)")
      }
    }
    for round in 0..<4000 {
      let letters = Array("CEST+-<>,M.J/:0123456789".utf8)
      let count = Int.random(in: 0..<40, using: &random)
      var text = (0..<count).map { _ in letters.randomElement(using: &random)! }
      if round % 2 == 0 { text = Array("CET-1CEST,M3.5.0".utf8) + text }
      if let changes = YearlyChanges(text) { _ = changes.offset(at: 1_700_000_000) }
    }
  }
}
