import Larder
import LarderSystem
import TestSupport
import Testing

@Suite struct NextExpiryTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `each namespace tells when its next entry ends`() throws {
    let start = clock.now
    try store.namespace("many").fill(0..<20_000, .with(expires: .after(.hours(1))))
    try store.namespace("one").set([1], for: "late", expires: .after(.days(7)))
    try store.namespace("one").set([1], for: "early", expires: .after(.days(2)))
    try store.namespace("none").set([1], for: "ever")
    #expect(
      try store.nextExpiries() == [
        "many": start.advanced(by: .hours(1)), "one": start.advanced(by: .days(2)),
      ])
  }

  @Test func `however many were refreshed or are waiting for a purge, the answer is exact`() throws
  {
    let start = clock.now
    try store.write { batch in
      for index in 0..<15_000 {
        try batch.set([1], for: index, in: notes, expires: .after(.minutes(1)))
        if index >= 7000 { try batch.touch(index, in: notes, expires: .after(.hours(2))) }
      }
      try batch.set([1], for: "next", in: notes, expires: .after(.hours(1)))
    }
    clock.advance(by: .minutes(10))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .hours(1))])
    clock.advance(by: .minutes(50))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .hours(2))])
    clock.advance(by: .hours(1))
    #expect(try store.nextExpiries() == [:])
  }

  @Test func `an entry that may be served stale counts until it stops being fresh`() throws {
    let start = clock.now
    try store.declare(Rules(expires: .after(.minutes(5)), stale: .hours(1)), for: "notes")
    try notes.set("a", for: "a")
    try notes.set("b", for: "b", expires: .after(.minutes(20)))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .minutes(5))])
    clock.advance(by: .minutes(10))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .minutes(20))])
    clock.advance(by: .minutes(20))
    #expect(try store.nextExpiries() == [:])
  }
}
