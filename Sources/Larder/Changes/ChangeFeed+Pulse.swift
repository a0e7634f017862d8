import Synchronization

/// What goes on while somebody watches here.
extension ChangeFeed {
  /// How often the head is looked at for what other processes have published: so that what one of them writes can be
  /// shown by another within 50 ms, its commit, the wait and the reading of it included.
  private static let shortest = Duration.milliseconds(5)
  private static let longest = Duration.milliseconds(20)

  func pulsing() -> Task<Void, Never> {
    Task.detached(priority: .utility) { [weak self] in
      var interval = Self.longest
      var mark: ChangeRing.AccessStats?
      while !Task.isCancelled {
        guard let seen = self?.pulse(after: mark) else { return }
        interval = seen == mark ? min(interval * 2, Self.longest) : Self.shortest
        mark = seen
        do {
          try await Task.sleep(for: interval)
        } catch {
          return
        }
      }
    }
  }

  /// Renews the lease when it is time, and wakes watchers if there is something new; nil when nobody watches any more.
  func pulse(after mark: ChangeRing.AccessStats?) -> ChangeRing.AccessStats? {
    let (isWatched, hasLapsed) = state.withLock { state in
      let leaseExpirations = state.leaseExpirations
      let isWatched = state.watchers > 0 && !state.isClosed
      if isWatched { hold(&state) }
      return (isWatched, state.leaseExpirations != leaseExpirations)
    }
    guard isWatched else { return nil }
    let seen = ring.mark
    if seen != mark || hasLapsed { sleepers.wake() }
    return seen
  }

  /// Takes the lease, or renews it in time.
  func hold(_ state: inout State) {
    // In this order: if the lease holds at `now`, the commit was made, or is collected, under it.
    let commit = newest()
    let now = now
    guard let lease = state.lease else {
      state.lease = ChangeLease(on: ring, at: now)
      state.heldAt = newest()
      return
    }
    if ChangeLease.isLive(lease.end, at: now) {
      state.heldAt = commit
      if now + ChangeLease.length < lease.end + ChangeLease.renewal { return }
      state.lease?.renew(on: ring, at: now)
    } else {
      state.lease?.renew(on: ring, at: now)
      // What is committed only now leaves a gap.
      let commit = newest()
      if commit != state.heldAt { state.leaseExpirations += 1 }
      state.heldAt = commit
    }
    publishStuck(&state, newest: commit)
  }

  /// A writer that was killed right after its commit leaves its changes for the next writer to publish. If there is
  /// none for a while, watchers need not wait for it.
  private func publishStuck(_ state: inout State, newest commit: UInt64) {
    let unpublished = ring.unpublished
    if let unpublished, unpublished.target == state.stuck, unpublished.transaction <= commit,
      // Read once more after the commit was seen: it is still that writer's, so the commit was, too.
      ring.unpublished?.target == unpublished.target
    {
      ring.publish(unpublished.target)
    }
    state.stuck = unpublished?.target ?? 0
  }
}
