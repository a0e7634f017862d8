import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct ExpirationTests {
  @Test func `times at the ends of what can be said neither trap nor wrap`() throws {
    try withNotes(Rules(stale: .days(Int.max))) { store, notes, _ in
      let lasting: [Expiration] = [
        .after(.seconds(Int64.max)), .after(.days(Int.max)), .after(.days(UInt64.max)),
        .at(Timestamp(milliseconds: .max)), .at(Timestamp(Date.distantFuture)),
        .at(Timestamp(Date(timeIntervalSince1970: .infinity))),
        .at(Timestamp(Date(timeIntervalSince1970: 1e300))),
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
        .at(Timestamp(Date(timeIntervalSince1970: -1e300))),
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
}
