import LarderSystem
import Synchronization

extension ChangeFeed {
  /// The shortest and longest time between two polls, so that changes of other processes arrive within 50 ms.
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

  /// Renews a due lease. Wakes the subscriptions if ring, lease or health has changed. Nil if there is no subscription.
  func poll(after position: ChangeRing.Position?) -> ChangeRing.Position? {
    let (isWatched, hasExpired) = state.withLock { state in
      let leaseExpirations = state.leaseExpirations
      let isWatched = state.subscriptions > 0 && !state.isClosed
      if isWatched { hold(&state) }
      return (isWatched, state.leaseExpirations != leaseExpirations)
    }
    guard isWatched else { return nil }
    let seen = ring.position
    let hasOtherHealth = checkHealth()
    if seen != position || hasExpired || hasOtherHealth { sleepers.resume() }
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
    // Writers check only the word in the ring. The word may be lost when a larger ring replaces the ring, so both are checked.
    let isLive =
      ChangeLease.isLive(lease.end, at: now) && ChangeLease.isLive(ring.watchedUntil, at: now)
    let isDue = now + ChangeLease.length >= lease.end + ChangeLease.renewal
    if !isLive || isDue { state.lease?.renew(on: ring, at: now) }
    let held = isLive ? commit : ring.newestCommit
    // A commit between the last renewal and this renewal may have happened without a lease, so its changes may be missing.
    if !isLive, held != state.heldAt { state.leaseExpirations += 1 }
    state.heldAt = held
    if !isLive || isDue { publishStuck(&state, newest: commit) }
  }

  /// Publishes the changes of a writer that was killed right after its commit, if two polls have found them unpublished.
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
