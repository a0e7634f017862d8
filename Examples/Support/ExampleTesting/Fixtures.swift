// The modules that tests of the examples use beside this module.
@_exported public import Foundation
@_exported public import HTTPTypes
@_exported public import Larder
@_exported public import LarderHTTP
@_exported public import LarderHTTPTesting
@_exported public import LarderTesting
@_exported public import LarderURLSession
@_exported public import Service
@_exported public import Synchronization
@_exported public import TestSupport
@_exported public import Testing

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif

/// A fixture that each test of a suite gets for itself, and that `run` checks after the test.
public protocol TestFixture: Sendable {
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

private enum CurrentFixture { @TaskLocal static var value: (any TestFixture)? }

extension TestFixture {
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

/// The stores that a test of a suite with `.fixture(TestedStores.self)` made, which are checked and closed after the test.
public typealias TestedStores = Lines<Store>

extension TestedStores: TestFixture {
  public static func run(_ body: (TestedStores) async throws -> Void) async throws {
    let stores = TestedStores()
    try await body(stores)
    for store in stores.all {
      do { try store.finish() } catch let error as LarderError where error.code == .closed {}
    }
  }
}

extension Store {
  public static func tested(clock: any LarderClock = ManualClock()) throws -> Store {
    let store = try Store.temporary(options: Store.Options(clock: clock))
    TestedStores.current.add(store)
    return store
  }

  /// Leaves no room in the store: forbids evictions, and sets the store's limit to the present number of entries.
  public func fill() throws {
    try declare(Rules(eviction: .refuse), for: "others")
    for namespace in try namespaces() {
      try override(Rules.Overrides(eviction: .refuse), for: namespace.name)
    }
    try namespace("others").set([1], for: "one")
    try declare(StoreLimits(entries: Int(try statistics().entries)))
  }
}
