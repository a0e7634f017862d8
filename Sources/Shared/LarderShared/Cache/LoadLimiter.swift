import LarderSystem

/// Limits how many loads run at the same time while the tier cannot be used, because no leases then protect the origin.
final class LoadLimiter: Sendable {
  private let places: Places
  /// The loads inside which the task runs. Only the outermost has a place: if the others needed places, all could wait for ever.
  @TaskLocal private static var loads: [SharedKey] = []

  init(_ most: Int) { places = Places(most) }

  /// Whether the task must not join a load of `key`, because that load could wait for the place that the task has.
  func mustNotJoin(_ key: @autoclosure () -> SharedKey) -> Bool {
    !Self.loads.isEmpty && places.areTaken && !Self.loads.contains(key())
  }

  /// Runs `body` as soon as fewer loads than the limit run, in the order of the calls. A load inside another runs immediately.
  func run<Item: Sendable>(_ key: SharedKey, _ body: () async throws -> Item) async throws -> Item {
    let loads = Self.loads + [key]
    if loads.count > 1 { return try await Self.$loads.withValue(loads) { try await body() } }
    guard await places.take() else { throw CancellationError() }
    defer { places.release() }
    return try await Self.$loads.withValue(loads) { try await body() }
  }
}
