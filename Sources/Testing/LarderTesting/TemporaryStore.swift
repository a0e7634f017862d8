public import Larder

/// A store that a check at the end of a test found inconsistent.
public struct InconsistentStore: Error, CustomStringConvertible {
  /// The faults that the check found, each as one sentence.
  public let faults: [String]

  /// The faults, each on its own line.
  public var description: String { "the store is inconsistent:\n" + faults.joined(separator: "\n") }
}

extension Store {
  /// Checks the whole store for inconsistencies and closes it. Throws ``InconsistentStore`` if it finds a fault.
  ///
  /// Call this method at the end of each test. The check reads the whole store.
  public func finish() throws {
    let faults = try verify().faults
    try close()
    guard faults.isEmpty else { throw InconsistentStore(faults: faults.map { "\($0)" }) }
  }
}

/// Runs `body` with a new temporary store, then checks and closes it, which removes its files.
///
///     try withTemporaryStore { store, clock in
///       let notes = store.cache(TextCodec(), in: "notes")
///       try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
///       clock.advance(by: .minutes(15))
///       #expect(try !notes.contains("zurich"))
///     }
///
/// - Parameters:
///   - clock: the clock of the store; it moves only when the test advances it.
///   - options: the other options of the store. The clock in these options is ignored.
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

/// Runs an asynchronous `body` with a new temporary store, as ``withTemporaryStore(clock:options:_:)`` does.
public func withTemporaryStore<Result: Sendable>(
  clock: ManualClock = ManualClock(), options: Store.Options = Store.Options(),
  isolation: isolated (any Actor)? = #isolation, _ body: (Store, ManualClock) async throws -> Result
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
