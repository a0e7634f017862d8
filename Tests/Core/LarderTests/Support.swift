import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// Runs `body` with a new store and its clock, and then verifies the store.
func withStore(
  chunksAbove: Int? = nil, at now: Timestamp? = nil,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Store, ManualClock) throws -> Void
) throws {
  let clock = now.map { ManualClock(now: $0) } ?? ManualClock()
  var options = Store.Options(clock: clock, lockTimeout: .ample)
  options.hooks.chunksAbove = chunksAbove
  let store = try Store.temporary(options: options)
  try body(store, clock)
  #expect(try store.verify().faults == [], sourceLocation: sourceLocation)
}

/// Runs `body` with a new store, its namespace `notes` with the given rules, and its clock, and then verifies the store.
func withNotes(
  _ rules: Rules? = nil, chunksAbove: Int? = nil, at now: Timestamp? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Store, Store.Namespace, ManualClock) throws -> Void
) throws {
  try withStore(chunksAbove: chunksAbove, at: now, sourceLocation: sourceLocation) { store, clock in
    if let rules { try store.declare(rules, for: "notes") }
    try body(store, store.namespace("notes"), clock)
  }
}

/// Runs `body` with a new store in a directory and its namespace `notes`, and then verifies and closes the store.
func withStoreOnDisk(
  _ options: Store.Options = Store.Options(), sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Store, Store.Namespace) throws -> Void
) throws {
  try withTemporaryDirectory { path in
    let store = try Store(at: path + "/s", options: options)
    try body(store, store.namespace("notes"))
    try store.verifyAndClose(sourceLocation: sourceLocation)
  }
}

/// Options with one checkpoint an hour. `boot` is the simulated number of starts of the machine.
func options(_ durability: Durability?, boot: UInt64 = 1) -> Store.Options {
  with(Store.Options(durability: durability, checkpointInterval: .seconds(3600))) {
    $0.hooks.boot = BootIdentity(9, boot)
  }
}

/// Options of a store without flushes, whose data file has at most `disk` bytes.
func unflushed(disk: Int? = nil) -> Store.Options {
  with(Store.Options()) {
    $0.flushes = false
    $0.limits = disk.map { StoreLimits(disk: $0) }
  }
}

extension Store {
  /// Stores `text` under the key `k` of the namespace `notes`, and closes the store.
  static func leave(
    _ text: String = "v", at path: String, _ options: Options = Options(),
    expires: Expiration? = nil
  ) throws {
    let store = try Store(at: path, options: options)
    try store.namespace("notes").set(text, for: "k", expires: expires)
    try store.close()
  }

  func verifyAndClose(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try verify().faults == [], comment, sourceLocation: sourceLocation)
    try close()
  }
}

/// The store of one test, and its clock. The end of the test verifies the store.
final class StoreFixture: Sendable {
  let clock = ManualClock()
  let store: Store
  private let directory: TemporaryDirectory?

  /// Makes a temporary store with a long lock timeout. `change` may set other options. Traps if no store can be made.
  init(_ change: (inout Store.Options) -> Void = { _ in }) {
    var options = Store.Options(clock: clock, lockTimeout: .ample)
    change(&options)
    directory = nil
    store = try! Store.temporary(options: options)
    Settling.fixtures?.withLock { $0.append(self) }
  }

  init(onDisk options: Store.Options, usesSystemClock: Bool = false) {
    var options = options
    if !usesSystemClock { options.clock = clock }
    let directory = TemporaryDirectory()
    self.directory = directory
    store = try! Store(at: directory.path + "/s", options: options)
    Settling.fixtures?.withLock { $0.append(self) }
  }

  // Verifies the store, except if the test has already closed the store.
  deinit {
    do throws(LarderError) {
      let faults = try store.verify().faults
      #expect(faults == [])
      if directory != nil { try store.close() }
    } catch { if error.code != .closed { Issue.record(error) } }
  }
}

protocol StoreSuite { var fixture: StoreFixture { get } }

extension StoreSuite {
  var store: Store { fixture.store }
  var clock: ManualClock { fixture.clock }
  var notes: Store.Namespace { store.namespace("notes") }
}

extension ExactString: ExpressibleByStringLiteral {
  public init(stringLiteral string: String) { self.init(string) }
}

extension Store.Namespace {
  /// Stores `value` for each of the keys, in one write.
  func fill(
    _ keys: some Sequence<some StoreKey>, with value: [UInt8] = [1],
    _ attributes: EntryAttributes = .with()
  ) throws {
    try store.write { batch in
      for key in keys { try batch.set(value, for: key, in: self, attributes) }
    }
  }

  func text(_ key: some StoreKey) throws -> String? { try value(for: key) }
  func bytes(_ key: some StoreKey) throws -> [UInt8]? { try value(for: key) }

  func putIfAbsent(
    _ value: Span<UInt8>, for key: some StoreKey, attributes: EntryAttributes
  ) throws(LarderError) -> Bool {
    try write(putting(value.copied, for: key, attributes, if: .unlessFresh))
  }

  func keysByPages(of limit: Int) throws -> [Key] {
    var page = try page(limit: limit)
    var keys = page.items.map(\.key)
    while let cursor = page.next {
      page = try self.page(limit: limit, after: cursor)
      keys += page.items.map(\.key)
    }
    return keys
  }

  var removals: RemovalCounters { get throws { try statistics()?.removals ?? RemovalCounters() } }
  var reads: ReadCounters { get throws { try statistics()?.reads ?? ReadCounters() } }
}

struct Stop: Error {}

/// The code of the `LarderError` that `body` throws, or nil if `body` throws no error. Any other error fails the test.
func failure(_ body: () throws -> Void) -> LarderError.Code? { thrown(body)?.code }

/// The same as ``failure(_:)`` for a call that waits.
func code<Value>(_ body: () async throws -> Value) async -> LarderError.Code? {
  do { _ = try await body() } catch let error as LarderError { return error.code } catch {
    Issue.record("an unexpected error: \(error)")
  }
  return nil
}

func thrown(_ body: () throws -> Void) -> LarderError? {
  do { try body() } catch let error as LarderError { return error } catch {
    Issue.record("an unexpected error: \(error)")
  }
  return nil
}

final class Tally: Sendable {
  private let count = Atomic(0)
  func add(_ amount: Int = 1) { count.add(amount, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}

final class ManualTimer: Sendable {
  private let waiting = Mutex<[(delay: Duration, body: @Sendable () -> Void)]>([])
  var delays: [Duration] { waiting.withLock { $0.map(\.delay) } }

  @Sendable func start(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append((delay, body)) }
  }

  func runOut() {
    let due = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for timer in due { timer.body() }
  }
}

final class CountingCodec: Codec, Equatable {
  struct NoText: Error {}
  let id = CodecID(rawValue: 201)
  let isLossless: Bool
  private let beforeFailure: @Sendable () -> Void
  private let count = Atomic(0)

  /// - Parameter beforeFailure: a closure that the codec calls before it throws.
  init(isLossless: Bool = false, beforeFailure: @escaping @Sendable () -> Void = {}) {
    (self.isLossless, self.beforeFailure) = (isLossless, beforeFailure)
  }

  var decoded: Int { count.load(ordering: .relaxed) }
  func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  func decode(_ bytes: Span<UInt8>) throws -> String {
    count.add(1, ordering: .relaxed)
    if let text = String(validating: bytes.copied, as: UTF8.self) { return text }
    beforeFailure()
    throw NoText()
  }

  static func == (left: CountingCodec, right: CountingCodec) -> Bool { left === right }
}
