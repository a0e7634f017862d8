import LarderSystem
import Synchronization

/// This process's access to the change ring, the file with the newest changes. Batches publish their changes here while
/// subscriptions exist. The feed holds the lease for this process's subscriptions and wakes the subscriptions.
final class ChangeFeed: Sendable {
  let ring: ChangeRing
  let process = ownProcess
  /// The machine's monotonic clock in milliseconds, which all processes share. Tests may change only the store's clock.
  private let machine: @Sendable () -> Int64
  private let health: @Sendable () -> StoreHealth
  let state = Mutex(State())
  let sleepers = Waiters<Void>()
  /// When a batch may map the file again, because the last attempt failed, in milliseconds of `machine`; otherwise 0.
  private let nextOpening = Atomic<UInt64>(0)
  private let refusedSlots = Atomic(0)

  struct State {
    var subscriptions = 0
    var lease: ChangeLease?
    /// The number of the newest commit at the time when the lease was last found live.
    var heldAt: UInt64 = 0
    /// How often commits happened after the lease had expired. The changes of these commits may not have been published.
    var leaseExpirations = 0
    var task: Task<Void, Never>?
    var isClosed = false
    var health = StoreHealth.healthy
    var healthCheckedAt: UInt64 = 0
    /// The target (a new head of the ring) that the last poll found unpublished; 0 if there was none.
    var stuck: UInt64 = 0
  }

  /// The facts at which a subscription looks. If no fact changes, the subscription has nothing to report.
  struct Sight: Equatable {
    var gaps: UInt64 = 0
    var head: UInt64 = 0
    var leaseExpirations = 0
    var health = StoreHealth.healthy
    var isClosed = false
  }

  init(
    ring: ChangeRing, machine: @escaping @Sendable () -> Int64,
    health: @escaping @Sendable () -> StoreHealth
  ) {
    self.ring = ring
    self.machine = machine
    self.health = health
  }

  var now: UInt64 { UInt64(clamping: machine()) }

  /// Collects the changes of a batch, inside the write transaction `transaction`. Nil if there is no file or no subscription.
  func notes(for transaction: UInt64, in store: StoreState) -> PendingChanges? {
    if store.watched == 0 { return nil }
    if !ring.words.openExisting() {
      let now = now
      if now < nextOpening.load(ordering: .relaxed) { return nil }
      guard ring.open() else {
        nextOpening.store(now + 1000, ordering: .relaxed)
        return nil
      }
    }
    // The ring lacks the changes since the failed attempt.
    if nextOpening.load(ordering: .relaxed) > 0 {
      nextOpening.store(0, ordering: .relaxed)
      ring.addGap()
    }
    ring.resolveUnpublished(before: transaction)
    let until = ring.watchedUntil
    if until == 0 { return nil }
    guard ChangeLease.isLive(until, at: now) else {
      // Removes the expired lease, so that later writers need not read the clock.
      _ = ring.exchange(until, for: 0, at: ChangeRing.Place.watched)
      return nil
    }
    // If the disk has no room for a larger ring, the ring stays, and a slow subscription misses changes sooner.
    let wanted = ring.wantedSlots
    if wanted > ring.slots, wanted != refusedSlots.load(ordering: .relaxed), !ring.grow(to: wanted)
    {
      refusedSlots.store(wanted, ordering: .relaxed)
    }
    ring.restartIfImpossible()
    return PendingChanges(feed: self, first: ring.head, transaction: transaction)
  }

  func publish(_ target: UInt64) {
    ring.publish(target)
    sleepers.resume()
  }

  /// Records that the ring lacks the committed changes of a batch, because the subscription began during the batch.
  func recordGap() {
    guard ring.words.openExisting(), isWatched else { return }
    ring.addGap()
    sleepers.resume()
  }

  var isWatched: Bool {
    guard ring.isUsable else { return true }
    let until = ring.watchedUntil
    return until != 0 && ChangeLease.isLive(until, at: now)
  }

  /// Begins a subscription. Later batches publish their changes; a running batch records a gap. Nil if the mapping fails.
  func enter() -> Sight? {
    state.withLock { state in
      guard ring.open() else { return nil }
      state.subscriptions += 1
      hold(&state)
      if state.task == nil { state.task = polling() }
      let begin = sight(in: state)
      // Before the head was read, a writer may have replaced the ring and lost the lease. So the lease is checked again.
      hold(&state)
      return begin
    }
  }

  /// Ends a subscription, and wakes its loops.
  func leave() {
    state.withLock { state in
      state.subscriptions -= 1
      if state.subscriptions == 0 { endLease(&state) }
    }
    sleepers.resume()
  }

  private func endLease(_ state: inout State) {
    // Without subscriptions nobody checks the files. So the next subscription must not get the health of an earlier time.
    (state.health, state.healthCheckedAt) = (.healthy, 0)
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

  /// Checks the store's files if the last check was at least a second ago.
  private func checkHealth() {
    let now = now
    let isDue = state.withLock { state in
      guard now >= state.healthCheckedAt &+ 1000 else { return false }
      state.healthCheckedAt = now
      return true
    }
    guard isDue else { return }
    let found = health()
    // If the last subscription has ended meanwhile, the result does not belong to the next subscription.
    state.withLock { if $0.healthCheckedAt == now { $0.health = found } }
  }

  var sight: Sight { state.withLock { sight(in: $0) } }

  private func sight(in state: State) -> Sight {
    // The gaps are read before the head. So a gap that appears between the two reads is found later, and is not lost.
    let gaps = ring.load(ChangeRing.Place.gaps)
    return Sight(
      gaps: gaps, head: ring.head, leaseExpirations: state.leaseExpirations, health: state.health,
      isClosed: state.isClosed)
  }

  /// The shortest and longest time between two polls, so that changes of other processes arrive within 50 ms.
  private static let shortest = Duration.milliseconds(5)
  private static let longest = Duration.milliseconds(20)

  func polling() -> Task<Void, Never> {
    // Ends soon after the release of the feed. The feed has no deinitializer, which could wait for a lock in a forked child.
    Task.detached(priority: .utility) { [weak self] in
      var interval = Self.longest
      var known: Sight?
      while !Task.isCancelled {
        guard let seen = self?.poll(after: known) else { return }
        interval = seen == known ? min(interval * 2, Self.longest) : Self.shortest
        known = seen
        // The sleep throws only if the task is cancelled, and a cancelled task leaves the loop.
        try? await Task.sleep(for: interval)
      }
    }
  }

  /// Renews a due lease. Wakes the subscriptions if ``sight`` is not `known`. Nil if there is no subscription.
  func poll(after known: Sight?) -> Sight? {
    let isWatched = state.withLock { state in
      let isWatched = state.subscriptions > 0 && !state.isClosed
      if isWatched { hold(&state) }
      return isWatched
    }
    guard isWatched else { return nil }
    checkHealth()
    let seen = sight
    if seen != known { sleepers.resume() }
    return seen
  }

  func hold(_ state: inout State) {
    // The commit is read before the time. So if the lease is still live at `now`, every change up to that commit was published.
    let commit = ring.newestCommit
    let now = now
    guard let lease = state.lease else {
      state.lease = ChangeLease(on: ring, at: now)
      state.heldAt = ring.newestCommit
      return
    }
    let isDue = now + ChangeLease.length >= lease.end + ChangeLease.renewal
    // The file was deleted or replaced, or a larger ring could not be mapped.
    if isDue, ring.isUsable, !ring.words.isInPlace { _ = ring.open() }
    // Writers check only the ring's `watchedUntil`, which may be lost when a larger ring replaces the ring. So check both.
    let isLive =
      ChangeLease.isLive(lease.end, at: now) && ChangeLease.isLive(ring.watchedUntil, at: now)
    if !isLive || isDue { state.lease?.renew(on: ring, at: now) }
    let held = isLive ? commit : ring.newestCommit
    // A commit between the last renewal and this renewal may have happened without a lease, so its changes may be missing.
    if !isLive, held != state.heldAt { state.leaseExpirations += 1 }
    state.heldAt = held
    if !isLive || isDue { publishStuck(&state, newest: commit) }
  }

  /// Publishes the changes of a writer that was killed right after its commit, if two polls have found the changes unpublished.
  private func publishStuck(_ state: inout State, newest commit: UInt64) {
    let unpublished = ring.unpublished
    if let unpublished, unpublished.target == state.stuck, unpublished.transaction <= commit,
      // The target is read again after the commit was seen. If the target is still there, its writer has made that commit.
      ring.unpublished?.target == unpublished.target
    {
      ring.publish(unpublished.target)
    }
    state.stuck = unpublished?.target ?? 0
  }
}
