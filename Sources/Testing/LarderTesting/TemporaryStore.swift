public import Larder

/// A store that a check at the end of a test found inconsistent.
public struct InconsistentStore: Error, CustomStringConvertible {
  /// The faults that the check found, a sentence for each.
  public let faults: [String]

  /// The faults in a line each.
  public var description: String {
    "the store is inconsistent:\n" + faults.joined(separator: "\n")
  }
}

extension Store {
  /// Checks everything in the store against everything else and closes it; throws ``InconsistentStore`` for a fault.
  ///
  /// Call it at the end of each test. It reads the whole store.
  public func finish() throws {
    let faults = try verify().faults
    try close()
    guard faults.isEmpty else { throw InconsistentStore(faults: faults.map { "\($0)" }) }
  }
}

/// Runs `body` with a new temporary store, then checks and closes it; the store is removed when its last handle goes.
///
///     try withTemporaryStore { store, clock in
///       let notes = store.cache(TextCodec(), in: "notes")
///       try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
///       clock.advance(by: .minutes(15))
///       #expect(try !notes.contains("zurich"))
///     }
///
/// - Parameters:
///   - clock: the store's; it moves only when the test advances it.
///   - options: other options of the store. Their clock is replaced.
///   - body: gets the store and the clock.
/// - Throws: the error of `body`; ``InconsistentStore`` for a fault; ``/Larder/LarderError`` if no store can be made.
public func withTemporaryStore<Result>(
  clock: ManualClock = ManualClock(), options: Store.Options = Store.Options(),
  _ body: (Store, ManualClock) throws -> Result
) throws -> Result {
  let store = try temporaryStore(clock, options)
  let result = try body(store, clock)
  try store.finish()
  return result
}

/// Runs `body` with a new temporary store as ``withTemporaryStore(clock:options:_:)`` does, in a task.
public func withTemporaryStore<Result: Sendable>(
  clock: ManualClock = ManualClock(), options: Store.Options = Store.Options(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Store, ManualClock) async throws -> Result
) async throws -> Result {
  let store = try temporaryStore(clock, options)
  let result = try await body(store, clock)
  try store.finish()
  return result
}

private func temporaryStore(
  _ clock: ManualClock, _ options: Store.Options
) throws(LarderError) -> Store {
  var options = options
  options.clock = clock
  return try Store.temporary(options: options)
}
