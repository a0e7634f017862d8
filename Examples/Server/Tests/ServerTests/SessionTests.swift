import Hummingbird
import Larder
import LarderHummingbird
import LarderTesting
import Testing

/// The driver without a server. Tests of two processes use the driver in handlers, tests of pages use it as a service, and
/// tests of Larder cover keys and values of any length, impossible keys, and values that cannot be encoded.
@Suite struct SessionTests {
  private struct Person: Codable, Sendable, Equatable { var name: String }

  private func withDriver(
    _ body: (LarderPersistDriver, ManualClock) async throws -> Void
  ) async throws {
    try await withTemporaryStore { store, clock in
      try await body(LarderPersistDriver(in: store.namespace("sessions")), clock)
    }
  }

  @Test func `a value without a lifetime keeps the end of the present one`() async throws {
    try await withDriver { driver, clock in
      // An expired value counts as absent, so the next value does not inherit its expiry.
      let steps: [(wait: Int, lifetime: Int?, left: Int?)] = [
        (0, 60, 60), (40, nil, 20), (20, nil, nil), (864_000_000, nil, nil), (0, 1, 1),
      ]
      for (number, step) in steps.enumerated() {
        clock.advance(by: .seconds(step.wait))
        let isKnown = try await driver.get(key: "a", as: Int.self) != nil
        #expect(isKnown == ![0, 2].contains(number))
        try await driver.set(key: "a", value: number, expires: step.lifetime.map { .seconds($0) })
        let found = try #require(try await driver.getWithTTL(key: "a", as: Int.self))
        #expect(found.object == number && found.ttl == step.left.map { Duration.seconds($0) })
      }
      clock.advance(by: .seconds(1))
      #expect(try await driver.getWithTTL(key: "a", as: Int.self) == nil)
      try await driver.set(key: "a", value: 5)
      for _ in 0..<2 { try await driver.remove(key: "a") }
      #expect(try await driver.get(key: "a", as: Int.self) == nil)
    }
  }

  @Test func `the rules of the namespace give a lifetime, also one that use prolongs`() async throws
  {
    try await withDriver { driver, clock in
      let rules = Rules(expires: .afterAccess(.minutes(10)))
      try driver.namespace.store.declare(rules, for: "sessions")
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
    try await withDriver { driver, clock in
      try await driver.create(key: "a", value: 1, expires: .seconds(60))
      await #expect(throws: PersistError.duplicate) {
        try await driver.create(key: "a", value: 2, expires: nil)
      }
      #expect(try await driver.get(key: "a", as: Int.self) == 1)
      clock.advance(by: .seconds(60))
      for lifetime in [Duration.zero, .seconds(-5)] {
        try await driver.create(key: "a", value: 3, expires: lifetime)
        #expect(try await driver.get(key: "a", as: Int.self) == nil)
      }
      let successes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
          let lifetime = Duration.seconds(Int64.max)
          group.addTask {
            (try? await driver.create(key: "a", value: number, expires: lifetime)) != nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(successes == 1)
    }
  }

  @Test func `a value of another type is an invalid conversion`() async throws {
    try await withDriver { driver, _ in
      try await driver.set(key: "a", value: Person(name: "Ada"))
      #expect(try await driver.get(key: "a", as: Person.self) == Person(name: "Ada"))
      await #expect(throws: PersistError.invalidConversion) {
        _ = try await driver.getWithTTL(key: "a", as: [Int].self)
      }
      for bytes: [UInt8] in [[], [0xFF, 0], Array("{\"name\":".utf8), Array("null".utf8)] {
        try await driver.namespace.set(bytes, for: "b")
        await #expect(throws: PersistError.invalidConversion) {
          _ = try await driver.get(key: "b", as: Person.self)
        }
      }
      try await driver.set(key: "c", value: String?.none)
      #expect(try await driver.get(key: "c", as: String?.self) == .some(nil))
      #expect(try driver.namespace.entry(for: "a")?.codec == .json)
    }
  }
}
