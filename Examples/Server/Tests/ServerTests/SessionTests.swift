import Hummingbird
import Larder
import LarderHummingbird
import LarderTesting
import Testing

/// The driver by itself. Tests of two processes use the driver in handlers, and tests of pages as a service.
@Suite struct SessionTests {
  private struct Person: Codable, Sendable, Equatable {
    var name: String
  }

  @Test func `a value without a lifetime keeps the end of the present one`() async throws {
    try await withTemporaryStore { store, clock in
      let driver = LarderPersistDriver(in: store.namespace("sessions"))
      try await driver.set(key: "a", value: 1, expires: .seconds(60))
      clock.advance(by: .seconds(40))
      try await driver.set(key: "a", value: 2)
      let found = try #require(try await driver.getWithTTL(key: "a", as: Int.self))
      #expect(found.object == 2 && found.ttl == .seconds(20))
      clock.advance(by: .seconds(20))
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
      #expect(try await driver.getWithTTL(key: "a", as: Int.self) == nil)
      // An expired value counts as absent, so the new value does not inherit its expiry.
      try await driver.set(key: "a", value: 3)
      clock.advance(by: .days(10_000))
      let forever = try #require(try await driver.getWithTTL(key: "a", as: Int.self))
      #expect(forever.object == 3 && forever.ttl == nil)
      try await driver.set(key: "a", value: 4)
      #expect(try await driver.getWithTTL(key: "a", as: Int.self)?.ttl == nil)
      try await driver.set(key: "a", value: 5, expires: .seconds(1))
      #expect(try await driver.getWithTTL(key: "a", as: Int.self)?.ttl == .seconds(1))
      try await driver.remove(key: "a")
      try await driver.remove(key: "a")
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
    }
  }

  @Test func `the rules of the namespace give a lifetime, also one that use prolongs`() async throws
  {
    try await withTemporaryStore { store, clock in
      try store.declare(Rules(expires: .afterAccess(.minutes(10))), for: "sessions")
      let driver = LarderPersistDriver(in: store.namespace("sessions"))
      try await driver.set(key: "a", value: 1)
      clock.advance(by: .minutes(5))
      try await driver.set(key: "a", value: 2)
      for _ in 0..<5 {
        #expect(try await driver.get(key: "a", as: Int.self) == 2)
        clock.advance(by: .minutes(6))
      }
      clock.advance(by: .minutes(6))
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
    }
  }

  @Test func `a second value under a key is a duplicate until the first has expired`() async throws
  {
    try await withTemporaryStore { store, clock in
      let driver = LarderPersistDriver(in: store.namespace("sessions"))
      try await driver.create(key: "a", value: 1, expires: .seconds(60))
      await #expect(throws: PersistError.duplicate) {
        try await driver.create(key: "a", value: 2, expires: nil)
      }
      #expect(try await driver.get(key: "a", as: Int.self) == 1)
      clock.advance(by: .seconds(60))
      try await driver.create(key: "a", value: 3, expires: .zero)
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
      try await driver.create(key: "a", value: 4, expires: .seconds(-5))
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
      let successes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          group.addTask {
            do {
              try await driver.create(key: "a", value: number, expires: .seconds(Int64.max))
              return true
            } catch { return error as? PersistError != .duplicate }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(successes == 1)
    }
  }

  @Test func `a value of another type is an invalid conversion`() async throws {
    try await withTemporaryStore { store, _ in
      let namespace = store.namespace("sessions")
      let driver = LarderPersistDriver(in: namespace)
      try await driver.set(key: "a", value: Person(name: "Ada"))
      #expect(try await driver.get(key: "a", as: Person.self) == Person(name: "Ada"))
      await #expect(throws: PersistError.invalidConversion) {
        _ = try await driver.get(key: "a", as: String.self)
      }
      await #expect(throws: PersistError.invalidConversion) {
        _ = try await driver.getWithTTL(key: "a", as: [Int].self)
      }
      for bytes: [UInt8] in [[], [0xFF, 0], Array("{\"name\":".utf8), Array("null".utf8)] {
        try await namespace.set(bytes, for: "b")
        await #expect(throws: PersistError.invalidConversion) {
          _ = try await driver.get(key: "b", as: Person.self)
        }
      }
      try await driver.set(key: "c", value: String?.none)
      #expect(try await driver.get(key: "c", as: String?.self) == .some(nil))
      #expect(try namespace.entry(for: "a")?.codec == .json)
    }
  }

  @Test func `keys and values of any kind`() async throws {
    try await withTemporaryStore { store, _ in
      let driver = LarderPersistDriver(in: store.namespace("sessions"))
      let long = String(repeating: "k", count: Key.longest)
      for key in ["\0", "a/b?c#d", "../..", "e\u{301}", "\u{e9}", "👩‍👩‍👧", long] {
        try await driver.set(key: key, value: key)
        #expect(
          try await driver.get(key: key, as: String.self)?.utf8.elementsEqual(key.utf8) == true)
      }
      for key in ["", long + "k"] {
        // A client may send any session key, so an impossible key is no error of the store.
        #expect(try await driver.get(key: key, as: String.self) == nil)
        #expect(try await driver.getWithTTL(key: key, as: String.self) == nil)
        try await driver.remove(key: key)
        await #expect(throws: LarderError.self) { try await driver.set(key: key, value: "v") }
        await #expect(throws: LarderError.self) {
          try await driver.create(key: key, value: "v", expires: nil)
        }
      }
      let large = String(repeating: "v", count: 3_000_000)
      try await driver.set(key: "large", value: large)
      #expect(try await driver.get(key: "large", as: String.self) == large)
      await #expect(throws: (any Error).self) { try await driver.set(key: "n", value: Double.nan) }
      #expect(try await driver.get(key: "n", as: Double.self) == nil)
    }
  }
}
