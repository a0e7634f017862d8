import LarderSystem
import Synchronization

/// A process's lease on the change ring: writers publish changes until it expires, and it is renewed before that.
///
/// A process that is killed stops renewing, and writers stop publishing. Times are milliseconds of the machine's monotonic
/// clock, which all processes share; a time further ahead than a lease is long is of an earlier boot.
struct ChangeLease {
  static let length: UInt64 = 10_000
  static let renewal: UInt64 = 2_500

  private(set) var end: UInt64
  /// The index of its slot among the leases; nil if all were taken, so that only its expiry ends it.
  private var index: Int?

  static func isLive(_ end: UInt64, at now: UInt64) -> Bool { now < end && end - now <= length }

  init(on ring: ChangeRing, at now: UInt64) {
    end = now + Self.length
    take(on: ring, at: now)
    raise(on: ring, at: now)
  }

  mutating func renew(on ring: ChangeRing, at now: UInt64) {
    let old = end
    end = now + Self.length
    // The file may have been replaced, or another process may have taken the slot of an expired lease.
    if let index, !ring.exchangeLease(index, old, for: end) { self.index = nil }
    if index == nil { take(on: ring, at: now) }
    raise(on: ring, at: now)
  }

  private mutating func take(on ring: ChangeRing, at now: UInt64) {
    index = (0..<ChangeRing.leaseCount).first { index in
      let known = ring.lease(index)
      return !Self.isLive(known, at: now) && ring.exchangeLease(index, known, for: end)
    }
  }

  private func raise(on ring: ChangeRing, at now: UInt64) {
    while true {
      let known = ring.watchedUntil
      if Self.isLive(known, at: now), known >= end { return }
      if ring.exchangeWatched(known, for: end) { return }
    }
  }

  /// Ends the lease; writers go on publishing for the leases of others.
  func end(on ring: ChangeRing, at now: UInt64) {
    guard let index else { return }
    _ = ring.exchangeLease(index, end, for: 0)
    while true {
      let known = ring.watchedUntil
      let ends = (0..<ChangeRing.leaseCount).map(ring.lease)
      let latest = ends.filter { Self.isLive($0, at: now) }.max() ?? 0
      // A lease without a slot is known by this word alone.
      if known != end, Self.isLive(known, at: now), !ends.contains(known) { return }
      if ring.exchangeWatched(known, for: latest) { return }
    }
  }
}

/// The poll task that runs while this process has subscriptions.
extension ChangeFeed {
  /// Bounds of the interval at which the ring's head is read for changes of other processes, so that their changes are
  /// delivered within 50 ms, commit, wait and reading included.
  private static let shortest = Duration.milliseconds(5)
  private static let longest = Duration.milliseconds(20)

  func polling() -> Task<Void, Never> {
    Task.detached(priority: .utility) { [weak self] in
      var interval = Self.longest
      var position: ChangeRing.Position?
      while !Task.isCancelled {
        guard let seen = self?.poll(after: position) else { return }
        interval = seen == position ? min(interval * 2, Self.longest) : Self.shortest
        position = seen
        do {
          try await Task.sleep(for: interval)
        } catch {
          return
        }
      }
    }
  }

  /// Renews the lease when it is due, and wakes the subscriptions if the ring has moved; nil when none is left.
  func poll(after position: ChangeRing.Position?) -> ChangeRing.Position? {
    let (isWatched, hasLapsed) = state.withLock { state in
      let leaseExpirations = state.leaseExpirations
      let isWatched = state.subscriptions > 0 && !state.isClosed
      if isWatched { hold(&state) }
      return (isWatched, state.leaseExpirations != leaseExpirations)
    }
    guard isWatched else { return nil }
    let seen = ring.position
    let hasOtherHealth = checkHealth()
    if seen != position || hasLapsed || hasOtherHealth { sleepers.wake() }
    return seen
  }

  /// Takes the lease, or renews it in time.
  func hold(_ state: inout State) {
    // The commit is read before the time: if the lease holds at `now`, every change up to that commit is published.
    let commit = newest()
    let now = now
    guard let lease = state.lease else {
      state.lease = ChangeLease(on: ring, at: now)
      state.heldAt = newest()
      return
    }
    // Writers look at the ring's own word, which a larger ring that replaced this one may have lost.
    if ChangeLease.isLive(lease.end, at: now), ChangeLease.isLive(ring.watchedUntil, at: now) {
      state.heldAt = commit
      if now + ChangeLease.length < lease.end + ChangeLease.renewal { return }
      state.lease?.renew(on: ring, at: now)
    } else {
      state.lease?.renew(on: ring, at: now)
      // A commit between the two renewals was not published.
      let commit = newest()
      if commit != state.heldAt { state.leaseExpirations += 1 }
      state.heldAt = commit
    }
    publishStuck(&state, newest: commit)
  }

  /// Publishes the changes of a writer that was killed right after its commit, if no other writer has done so since the
  /// last poll.
  private func publishStuck(_ state: inout State, newest commit: UInt64) {
    let unpublished = ring.unpublished
    if let unpublished, unpublished.target == state.stuck, unpublished.transaction <= commit,
      // Read again after the commit was seen: if the target is unchanged, that commit was this writer's.
      ring.unpublished?.target == unpublished.target
    {
      ring.publish(unpublished.target)
    }
    state.stuck = unpublished?.target ?? 0
  }
}
