public import Larder
import LarderTesting
import Synchronization
public import Testing

/// Something that each test of a suite gets for itself, and that is checked after the test.
public protocol TestFixture: Sendable {
  /// Makes one, calls `body` with it, and checks it.
  static func run(_ body: (Self) async throws -> Void) async throws
}

/// Gives each test of a suite a fixture: `@Suite(.fixture(Fixture.self))`, and `Fixture.current` in the test.
public struct FixtureTrait<Fixture: TestFixture>: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    try await Fixture.run { fixture in
      try await CurrentFixture.$value.withValue(fixture) { try await body() }
    }
  }
}

private enum CurrentFixture {
  @TaskLocal static var value: (any TestFixture)?
}

extension TestFixture {
  /// That of the test that runs.
  public static var current: Self {
    guard let fixture = CurrentFixture.value as? Self else {
      preconditionFailure("the suite has no trait .fixture(\(Self.self).self)")
    }
    return fixture
  }
}

extension Trait {
  public static func fixture<Fixture>(
    _ type: Fixture.Type
  ) -> Self where Self == FixtureTrait<Fixture> { FixtureTrait() }
}

/// Checks and closes the stores that a test made by ``Store/tested(clock:)``.
public struct StoresTrait: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    let stores = TestedStores()
    try await TestedStores.$current.withValue(stores) { try await body() }
    for store in stores.all.withLock({ $0 }) {
      do { try store.finish() } catch let error as LarderError where error.code == .closed {}
    }
  }
}

private final class TestedStores: Sendable {
  @TaskLocal static var current: TestedStores?
  let all = Mutex<[Store]>([])
}

extension Trait where Self == StoresTrait {
  public static var checkedStores: StoresTrait { StoresTrait() }
}

extension Store {
  /// A temporary store that is checked after the test; its suite has the trait ``StoresTrait``.
  public static func tested(clock: any LarderClock = ManualClock()) throws -> Store {
    let store = try Store.temporary(clock: clock)
    guard let stores = TestedStores.current else {
      preconditionFailure("the suite has no trait .checkedStores")
    }
    stores.all.withLock { $0.append(store) }
    return store
  }
}
