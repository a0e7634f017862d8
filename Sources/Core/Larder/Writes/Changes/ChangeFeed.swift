import LMDB
import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// This process's side of the change ring: batches publish their changes here while subscriptions exist. The feed holds the
/// lease for this process's subscriptions and wakes the subscriptions. Nothing is copied for a subscription that does not
/// read.
final class ChangeFeed: Sendable {
  let ring: ChangeRing
  let process = ProcessInfo.processInfo.processIdentifier
  let newest: @Sendable () -> UInt64
  /// The machine's monotonic clock in milliseconds. All processes share it, unlike the store's clock, which tests move.
  private let machine: @Sendable () -> Int64
  private let health: @Sendable () -> StoreHealth
  let state = Mutex(State())
  let sleepers = Waiters<Void>()
  /// Whether the file could not be mapped. Batches do not try again; subscriptions do.
  private let isWithout = Atomic(false)
  private let refusedSlots = Atomic(0)

  struct State {
    var subscriptions = 0
    var lease: ChangeLease?
    /// The newest commit when the lease was last seen to be live.
    var heldAt: UInt64 = 0
    /// How often commits happened while the lease had expired, so that changes may not have been published.
    var leaseExpirations = 0
    var task: Task<Void, Never>?
    var isClosed = false
    var health = StoreHealth.healthy
    var healthCheckedAt: UInt64 = 0
    /// The target that the last poll found prepared but not published.
    var stuck: UInt64 = 0
  }

  init(
    ring: ChangeRing, newest: @escaping @Sendable () -> UInt64,
    machine: @escaping @Sendable () -> Int64, health: @escaping @Sendable () -> StoreHealth
  ) {
    self.ring = ring
    self.newest = newest
    self.machine = machine
    self.health = health
  }

  deinit {
    state.withLock { $0.task?.cancel() }
  }

  var now: UInt64 { UInt64(clamping: machine()) }

  // MARK: Batches

  /// Collects the changes of a batch inside write transaction `transaction`; nil without the file or a subscription. Costs one
  /// comparison in a store that never had a subscription.
  func notes(for transaction: UInt64, in store: StoreState) -> PendingChanges? {
    if store.watched == 0 { return nil }
    if !ring.isUsable {
      if isWithout.load(ordering: .relaxed) { return nil }
      guard ring.open() else {
        isWithout.store(true, ordering: .relaxed)
        return nil
      }
    }
    ring.resolveUnpublished(before: transaction)
    let until = ring.watchedUntil
    if until == 0 { return nil }
    guard ChangeLease.isLive(until, at: now) else {
      // This removes the expired lease, so that later writers need not read the clock.
      _ = ring.exchangeWatched(until, for: 0)
      return nil
    }
    growRing()
    ring.restartIfImpossible()
    return PendingChanges(feed: self, first: ring.head, transaction: transaction)
  }

  /// Without room on the disk the ring stays as it is, and a slow subscription misses changes sooner.
  private func growRing() {
    let wanted = ring.wantedSlots
    guard wanted > ring.slots, wanted != refusedSlots.load(ordering: .relaxed) else { return }
    if !ring.grow(to: wanted) { refusedSlots.store(wanted, ordering: .relaxed) }
  }

  func publish(_ target: UInt64) {
    ring.publish(target)
    sleepers.resume()
  }

  /// Records that a batch has committed changes without collecting them, for a subscription that began meanwhile.
  func recordGap() {
    guard ring.isUsable, isWatched else { return }
    ring.addGap()
    sleepers.resume()
  }

  var isWatched: Bool {
    guard ring.isUsable else { return true }
    let until = ring.watchedUntil
    return until != 0 && ChangeLease.isLive(until, at: now)
  }

  // MARK: Subscriptions

  /// Begins a subscription. Every batch that begins from now on publishes its changes; every batch under way records a gap.
  /// Nil if the file cannot be mapped.
  func enter() -> (position: ChangeRing.Position, leaseExpirations: Int)? {
    state.withLock { state in
      guard ring.open() else { return nil }
      isWithout.store(false, ordering: .relaxed)
      state.subscriptions += 1
      hold(&state)
      if state.task == nil { state.task = polling() }
      let begin = (ring.position, state.leaseExpirations)
      // Between the lease and the position, a writer may have replaced the ring and lost the lease.
      hold(&state)
      return begin
    }
  }

  func leave() {
    state.withLock { state in
      state.subscriptions -= 1
      if state.subscriptions == 0 { endLease(&state) }
    }
  }

  private func endLease(_ state: inout State) {
    state.task?.cancel()
    state.task = nil
    state.lease?.end(on: ring, at: now)
    state.lease = nil
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      endLease(&state)
    }
    sleepers.resume()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  var lastHealth: StoreHealth { state.withLock { $0.health } }

  /// Looks at the store's files if the last check was a second ago or more; returns whether the health changed.
  func checkHealth() -> Bool {
    let now = now
    let isDue = state.withLock { state in
      guard now >= state.healthCheckedAt &+ 1000 else { return false }
      state.healthCheckedAt = now
      return true
    }
    guard isDue else { return false }
    let found = health()
    return state.withLock { state in
      defer { state.health = found }
      return state.health != found
    }
  }

  /// Sleeps until the ring moves from `position`, the health differs from `health`, or the store is closed. May return early.
  func sleep(at position: ChangeRing.Position, health: StoreHealth) async {
    await sleepers.wait(
      unless: { isClosed || ring.position != position || lastHealth != health })
  }
}
