import Larder
import LarderSharedTesting
import TestSupport
import Testing

@testable import LarderShared

/// A machine of a test: its own store, and a cache over the shared tier of all machines. `deinit` verifies the store.
final class Machine: Sendable {
  let store: Store
  let clock: ManualClock
  let cache: SharedCache<String>
  let link: TierLink
  var shared: Shared { cache.shared }
  static let rules = Rules(expires: .after(.minutes(10)), stale: .hours(1))

  /// - Parameter now: the time at which the manual clock begins. Nil means the default time of the clock.
  init(
    _ tier: MemoryTier, at now: Timestamp? = nil, options: SharedOptions = SharedOptions(),
    rules: Rules = Machine.rules
  ) throws {
    let clock = now.map { ManualClock(now: $0) } ?? ManualClock()
    store = try Store.temporary(options: Store.Options(clock: clock))
    self.clock = clock
    link = TierLink(to: tier)
    // A reader pauses for `pace` between two requests. The manual clock stands still, so only a pause of zero ends.
    let options = with(options) { $0.pace = .zero }
    cache = store.cache(
      TextCodec(), in: "prices", rules: rules, shared: Shared(link, options: options))
  }

  deinit { do { #expect(try store.verify().faults == []) } catch { Issue.record(error) } }

  func read(
    _ origin: Origin, for key: String = "a", options: LoadOptions = .committed
  ) async throws -> String { try await result(origin, for: key, options: options).value }

  var copies: LocalCopies { cache.copies }
  var standing: RecentChanges.Standing { copies.standing(limit: shared.options.unconfirmedLimit) }

  /// Waits until this machine has applied every change that the tier has now.
  func follow(_ tier: MemoryTier) async throws {
    do {
      try await waitUntil {
        standing == .confirmed && (copies.recent.applied >= tier.newest ?? .zero)
      }
    } catch {
      let state = try copies.state.progress().map { "epoch \($0.epoch) at \($0.position)" }
      Issue.record(
        """
        \(standing), applied \(copies.recent.applied) of \(tier.newest ?? .zero), \(state ?? "no progress"), \
        reader \(copies.recent.reader(at: clock.monotonic) ?? 0), \(shared.statistics)
        """)
      throw error
    }
  }

  /// Cuts the machine's connection, and waits until the machine's copies are no longer confirmed.
  func cutOff() async throws {
    link.cut()
    try await waitUntil { copies.recent.reader(at: clock.monotonic) == nil }
    clock.advance(by: .seconds(3))
  }

  /// Restores the connection, and waits until the machine has applied every change.
  func restore(_ tier: MemoryTier) async throws {
    link.restore()
    try await waitUntil {
      // After a failed request, the reader waits by this clock, so the clock must move.
      if copies.recent.reader(at: clock.monotonic) == nil { clock.advance(by: .milliseconds(200)) }
      return standing == .confirmed && copies.recent.applied >= tier.newest ?? .zero
    }
  }

  func result(
    _ origin: Origin, for key: String = "a", options: LoadOptions = LoadOptions()
  ) async throws -> CacheResult<String> {
    try await cache.result(for: key, options: options) { try await origin.text() }
  }

  /// The value that the tier confirms. If the tier confirms no value, the result of a load.
  func current(_ origin: Origin) async throws -> CacheResult<String>? {
    try await cache.currentResult(for: "a") { _ in .value(try await origin.text()) }
  }

  /// Whether this machine may store the fetched value of the key `a`.
  func mayStore(
    _ fetched: FetchedValue, _ ticket: LocalCopies.Ticket, tags: [String] = []
  ) async throws -> Bool {
    let copies = copies
    return try await store.commit { batch in
      try copies.mayStore(
        fetched.stamp, current: fetched.head, ticket, for: .a, tags: tags, in: &batch)
    }
  }

  func copy(_ key: String = "a") throws -> String? { try cache.local.value(for: key) }
}

extension Frame.Parsed {
  var frame: Frame? { if case .frame(let frame) = self { frame } else { nil } }
}

extension SharedKey { static let a = SharedKey(namespace: "prices", bytes: Array("a".utf8)) }

enum SharedChange: CaseIterable {
  case set, remove, clear, invalidate
  static let removals = [remove, clear, invalidate]

  func make(in cache: SharedCache<String>) async throws {
    switch self {
    case .set: try await cache.set("new", for: "a", tags: ["t"])
    case .remove: try await cache.remove("a")
    case .clear: try await cache.clear()
    case .invalidate: try await cache.invalidate(tag: "t")
    }
  }
}

/// Waits and lets the clocks of the machines and another clock advance, so that the machines' readers look at the log again.
func whileTimePasses(
  _ machines: [Machine], _ clock: ManualClock? = nil, by step: Duration = .milliseconds(20),
  until condition: () async throws -> Bool
) async throws {
  try await waitUntil {
    for machine in machines { machine.clock.advance(by: step) }
    clock?.advance(by: step)
    try await Task.sleep(for: .milliseconds(1))
    return try await condition()
  }
}

/// Machines over one tier, whose server has its own clock. Each machine has read the log of the tier.
func startMachines(
  _ count: Int, options: SharedOptions = SharedOptions(), rules: Rules = Machine.rules
) async throws -> (machines: [Machine], tier: MemoryTier, server: ManualClock) {
  let server = ManualClock()
  let tier = MemoryTier(clock: server)
  let machines = try (0..<count).map { _ in try Machine(tier, options: options, rules: rules) }
  for machine in machines { try await machine.follow(tier) }
  return (machines, tier, server)
}

/// Moves the clocks of a server and of its machines, and waits until the machines have applied every change.
func pass(
  _ duration: Duration, _ server: ManualClock, _ machines: [Machine], _ tier: MemoryTier
) async throws {
  for clock in [server] + machines.map(\.clock) { clock.advance(by: duration) }
  for machine in machines { try await machine.follow(tier) }
}

func code<Value>(_ body: () async throws -> Value) async -> LarderError.Code? {
  do {
    _ = try await body()
    return nil
  } catch { return (error as? LarderError)?.code }
}
