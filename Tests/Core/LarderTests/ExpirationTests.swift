import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct ExpirationTests {
  @Test func `never, after and at live side by side`() throws {
    try withNotes { _, notes, clock in
      try notes.set("a", for: "never", expires: .never)
      try notes.set("b", for: "after", expires: .after(.seconds(1)))
      try notes.set("c", for: "at", expires: .at(clock.now.advanced(by: .seconds(2))))
      let date = clock.now.advanced(by: .seconds(3)).date
      try notes.set("d", for: "date", expires: .at(Timestamp(date)))
      var left: [[String]] = []
      for _ in 0..<4 {
        left.append(
          try ["never", "after", "at", "date"].filter { try notes.contains($0) })
        clock.advance(by: .seconds(1))
      }
      #expect(left[0] == ["never", "after", "at", "date"])
      #expect(left[1] == ["never", "at", "date"])
      #expect(left[2] == ["never", "date"])
      #expect(left[3] == ["never"])
    }
  }

  @Test
  func `a duration below a millisecond does not expire early, and zero or less is expired at once`()
    throws
  {
    try withNotes { _, notes, clock in
      try notes.set("a", for: "short", expires: .after(.microseconds(1)))
      #expect(try notes.text("short") == "a")
      for gone in [Duration.zero, .milliseconds(-1), .seconds(-1000)] {
        try notes.set("a", for: "gone", expires: .after(gone))
        #expect(try notes.text("gone") == nil)
      }
      clock.advance(by: .milliseconds(1))
      #expect(try notes.text("short") == nil)
    }
  }

  @Test func `times at the ends of what can be said neither trap nor wrap`() throws {
    try withNotes(Rules(stale: .days(Int.max))) { store, notes, _ in
      let lasting: [Expiration] = [
        .after(.seconds(Int64.max)), .after(.days(Int.max)), .after(.days(UInt64.max)),
        .at(Timestamp(milliseconds: .max)), .at(Timestamp(Date.distantFuture)),
        .at(Timestamp(Date(timeIntervalSince1970: .infinity))),
        .at(Timestamp(milliseconds: .max - 1)),
      ]
      for (index, expiration) in lasting.enumerated() {
        try notes.set("a", for: index, expires: expiration)
        #expect(try notes.text(index) == "a", "\(expiration)")
        #expect(try notes.entry(for: index) != nil)
        #expect(try notes.touch(index, expires: expiration))
      }
      try store.declare(Rules(), for: "notes")
      let over: [Expiration] = [
        .after(.seconds(Int64.min)), .after(.days(Int.min)), .at(Timestamp(milliseconds: .min)),
        .at(Timestamp(milliseconds: -1)), .at(Timestamp(milliseconds: 0)),
        .at(Timestamp(Date.distantPast)),
        .at(Timestamp(Date(timeIntervalSince1970: -.infinity))),
      ]
      for (index, expiration) in over.enumerated() {
        try notes.set("a", for: "over \(index)", expires: expiration)
      }
      #expect(try store.purge().entries == over.count)
      for (index, expiration) in over.enumerated() {
        try notes.set("a", for: "over \(index)", expires: expiration)
        #expect(try notes.text("over \(index)") == nil, "\(expiration)")
      }
      #expect(try notes.count() == lasting.count)
    }
  }

  @Test func `a date leads to the millisecond it was made from`() {
    for step in Int64(0)..<5000 {
      let moment = Timestamp(milliseconds: 1_767_225_600_000 + step * 7)
      #expect(Timestamp(moment.date) == moment)
    }
    #expect(Timestamp(milliseconds: .min).duration(to: Timestamp(milliseconds: .max)) > .days(1))
    #expect(Timestamp(milliseconds: 1_767_225_600_007).description == "2026-01-01T00:00:00.007Z")
    // RFC 3339 has no later years.
    let last = Timestamp(milliseconds: 253_402_300_799_999)
    #expect(last.description == "9999-12-31T23:59:59.999Z")
    #expect(
      last.advanced(by: .milliseconds(1)).description == "253402300800000 ms since 1970")
    #expect(Timestamp(milliseconds: .min).description == "\(Int64.min) ms since 1970")
  }

  @Test func `an entry takes the rule of its namespace unless it has its own`() throws {
    try withNotes(Rules(expires: .after(.seconds(10)))) { store, notes, clock in
      try notes.set("a", for: "ruled")
      try notes.set("b", for: "own", expires: .after(.seconds(20)))
      try notes.set("c", for: "free", expires: .never)
      try store.override(Rules.Overrides(expires: .after(.seconds(5))), for: "notes")
      try notes.set("d", for: "overridden")
      clock.advance(by: .seconds(5))
      #expect(try notes.text("overridden") == nil)
      #expect(try notes.text("ruled") == "a")
      clock.advance(by: .seconds(5))
      #expect(try notes.text("ruled") == nil)
      clock.advance(by: .seconds(10))
      #expect(try notes.text("own") == nil)
      #expect(try notes.text("free") == "c")
    }
  }
}

@Suite struct LifetimeTests {
  @Test func `touch, expire and persist change the end and not the value`() throws {
    try withNotes(Rules(expires: .after(.seconds(10)))) { _, notes, clock in
      let keys = ["k", String(repeating: "long", count: 200)]
      for key in keys {
        try notes.set("a", for: key)
        let written = try #require(try notes.entry(for: key))
        clock.advance(by: .seconds(9))
        #expect(try notes.touch(key))
        clock.advance(by: .seconds(9))
        #expect(try notes.text(key) == "a")
        #expect(try notes.touch(key, expires: .after(.seconds(100))))
        clock.advance(by: .seconds(99))
        #expect(try notes.text(key) == "a")
        #expect(try notes.touch(key, expires: .never))
        clock.advance(by: .days(400))
        #expect(try notes.text(key) == "a")
        let now = try #require(try notes.entry(for: key))
        #expect(now.version == written.version && now.written == written.written)
        #expect(now.expires == nil)
        #expect(try notes.touch(key, expires: .after(.zero)))
        #expect(try notes.text(key) == nil)
      }
    }
  }

  @Test func `what is expired or absent cannot be touched back to life`() throws {
    try withNotes { store, notes, clock in
      try notes.set("a", for: "k", expires: .after(.seconds(1)))
      clock.advance(by: .seconds(1))
      #expect(try !notes.touch("k", expires: .never))
      #expect(try !notes.touch("k", expires: .never))
      #expect(try !notes.touch("other"))
      #expect(try !store.namespace("absent").touch("k"))
      #expect(try notes.text("k") == nil)
      #expect(try store.namespaces().map(\.name) == ["notes"])
    }
  }
}
