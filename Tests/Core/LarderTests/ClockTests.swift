import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ClockTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `a purge over a day past the newest stamp waits until a second one agrees`() throws {
    try notes.set("v", for: "k", expires: .after(.hours(1)))
    clock.set(to: clock.now.advanced(by: .days(1) + .milliseconds(1)))
    for _ in 0..<3 {
      let removal = try store.purge()
      #expect(removal.skippedAfterClockJump && removal.entries == 0)
      clock.advance(by: .milliseconds(19_999))
    }
    #expect(try store.purge().skippedAfterClockJump)
    // A read trusts the clock, so the read treats the entry as expired, although no purge has removed the entry.
    #expect(try !notes.contains("k"))
    clock.advance(by: .milliseconds(3))
    #expect(try store.purge() == RemovalResult(entries: 1, bytes: 1))
  }

  @Test func `a monotonic clock that goes back stops no purge`() throws {
    clock.advance(by: .seconds(1))
    try store.namespace("notes").set("v", for: "k")
    clock.advance(by: .milliseconds(Int64.min))
    #expect(try store.purge().entries == 0)
    #expect(try store.namespace("notes").text("k") == "v")
  }

  @Test func `a purge at the last moment of all removes no entry that never ends`() throws {
    // The expiry index may still have a record of the first expiry of `k`, which the second write has replaced.
    try notes.set("v", for: "k", expires: .after(.hours(1)))
    try notes.set("v", for: "k", expires: .never)
    try notes.set("v", for: "expired", expires: .after(.hours(1)))
    clock.set(to: Timestamp(milliseconds: .max))
    #expect(try store.purge().skippedAfterClockJump)
    clock.advance(by: .seconds(61))
    #expect(try store.purge().entries == 1)
    #expect(try notes.text("k") == "v")
  }

  @Test func `a jump of just a day is believed`() throws {
    try store.namespace("notes").set("v", for: "k", expires: .after(.hours(1)))
    clock.set(to: clock.now.advanced(by: .days(1)))
    #expect(try store.purge().entries == 1)
  }

  @Test func `a clock that is set right again before the second purge costs nothing`() throws {
    try notes.set("v", for: "k", expires: .after(.hours(1)))
    let right = clock.now
    for _ in 0..<3 {
      clock.set(to: right.advanced(by: .days(1000)))
      #expect(try store.purge().skippedAfterClockJump)
      clock.set(to: right)
      // The clock is right at this write, so the former jump no longer counts. The purge after the next jump must be skipped.
      try notes.set("w", for: "other")
      clock.advance(by: .minutes(2))
      clock.set(to: right)
    }
    #expect(try notes.text("k") == "v")
    #expect(try store.purge() == RemovalResult())
    #expect(try notes.count() == 2)
  }

  @Test func `a write under a wrong clock does not excuse a later jump`() throws {
    let right = clock.now
    try notes.set("v", for: "k", expires: .after(.hours(1)))
    clock.set(to: right.advanced(by: .days(1000)))
    try notes.set("v", for: "future")
    clock.set(to: right)
    try notes.set("v", for: "present")
    clock.set(to: right.advanced(by: .days(900)))
    #expect(try store.purge().skippedAfterClockJump)
    clock.set(to: right)
    #expect(try notes.text("k") == "v")
  }

  @Test func `a jump back makes an entry with an end from over a minute ahead stale`() throws {
    let right = clock.now
    for (key, ahead) in [("near", Duration.seconds(60)), ("far", .milliseconds(60_001))] {
      clock.set(to: right.advanced(by: ahead))
      try notes.set("v", for: key, expires: .after(.hours(1)))
      try notes.set("v", for: key + " for ever", expires: .never)
    }
    clock.set(to: right)
    #expect(try ["near", "far", "far for ever"].map { try notes.text($0) } == ["v", nil, "v"])
    #expect(try notes.entry(for: "far")?.state == .stale)
    #expect(try notes.reads.stale == 1)
    #expect(try store.purge().entries == 0)
    // If `touch` returns true, the next read must find a fresh entry.
    #expect(try notes.touch("far", expires: .after(.hours(1))))
    #expect(try notes.text("far") == "v")
    clock.advance(by: .hours(1))
    #expect(try store.purge().entries == 1)
  }

  @Test func `the doubt outlives the process that had it`() throws {
    try withTemporaryDirectory { path in
      try Store.leave(at: path + "/s", .init(clock: clock), expires: .after(.hours(1)))
      clock.advance(by: .days(2))
      var store = try Store(at: path + "/s", options: .init(clock: clock))
      #expect(try store.purge().skippedAfterClockJump)
      try store.close()
      clock.advance(by: .minutes(1))
      store = try Store(at: path + "/s", options: .init(clock: clock))
      #expect(try store.purge().entries == 1)
      try store.verifyAndClose()
    }
  }

  @Test func `clocks at the ends of time do not trap`() throws {
    for now in [Int64.min, -1, 0, 1, .max] {
      try withNotes(at: Timestamp(milliseconds: now)) { store, notes, clock in
        try notes.set("v", for: "a", expires: .after(.seconds(1)))
        try notes.set("v", for: "b", expires: .never)
        for other in [Int64.min, 0, .max] {
          clock.set(to: Timestamp(milliseconds: other))
          _ = try notes.text("a")
          _ = try store.purge()
          _ = try notes.touch("a", expires: .after(.days(1)))
          #expect(try notes.text("b") == "v")
        }
      }
    }
  }

  @Test(arguments: ["set", "touch", "invalidate", "metadata", "owners"])
  func `no write under a clock that has jumped vouches for it`(write: String) throws {
    let right = clock.now
    for key in ["k", "other"] { try notes.set("v", for: key, expires: .after(.hours(1))) }
    try notes.set("v", for: "stays")
    clock.set(to: right.advanced(by: .days(365)))
    for round in 0..<3 {
      switch write {
      case "set": try notes.set("w", for: "new \(round)")
      case "touch": try notes.touch("stays")
      case "invalidate": try store.invalidate(tag: "none")
      case "metadata": try store.write { _ = try $0.setMetadata([1], of: "stays", in: notes) }
      default: try store.write { _ = try $0.setOwners([], of: "stays", in: notes) }
      }
      #expect(try store.purge().skippedAfterClockJump)
      clock.advance(by: .seconds(20))
    }
    clock.set(to: right)
    #expect(try notes.text("k") == "v" && notes.text("other") == "v")
    try notes.set("w", for: "right")
    // If the clock keeps its new time, a purge one minute after the first purge trusts the clock, even with writes in between.
    clock.set(to: right.advanced(by: .days(365)))
    try store.purge()
    try notes.set("w", for: "meanwhile")
    clock.advance(by: .seconds(61))
    try notes.set("w", for: "meanwhile")
    #expect(try store.purge().entries == 2)
  }
}

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
      let weekday = date.weekday
      date.number += 1
      #expect(date.weekday == (weekday + 1) % 7)
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
    let moment = { (text: String) in Timestamp(try Date(text, strategy: .iso8601)) }
    let zurich = "Europe/Zurich"
    #expect(try TimeOfDay(of: moment("2026-03-29T00:59:59Z"), in: zurich) == TimeOfDay(1, 59, 59))
    #expect(try TimeOfDay(of: moment("2026-03-29T01:00:00Z"), in: zurich) == TimeOfDay(3))
    #expect(try TimeOfDay(of: moment("2026-10-25T01:30:00Z"), in: zurich) == TimeOfDay(2, 30))
    #expect(try TimeOfDay(of: moment("1969-12-31T23:59:59Z"), in: "UTC") == TimeOfDay(23, 59, 59))
    let start = Timestamp(milliseconds: 0)
    #expect(failure { _ = try TimeOfDay(of: start, in: "Europe/Nowhere") } == .invalidArgument)
  }
}
