import LMDB
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// This process's end of the ring: it lets batches publish while somebody watches, keeps the lease of those who watch
/// here, and wakes them.
///
/// Watchers read the ring themselves, each from a place of its own: the ring is their buffer, and nothing is copied for
/// one that does not come to look.
final class ChangeFeed: Sendable {
  let ring: ChangeRing
  let process = ProcessInfo.processInfo.processIdentifier
  /// The newest commit, by whatever process.
  private let newest: @Sendable () -> UInt64
  /// The machine's monotonic clock in milliseconds, the same for all processes: not the store's, which tests move.
  private let machine: @Sendable () -> Int64
  private let state = Mutex(State())
  /// Whether somebody sleeps until there is more: else a writer need not take the lock.
  private let isAwaited = Atomic(false)
  /// The file could not be had: batches do not try again, watchers do.
  private let isWithout = Atomic(false)

  private struct State {
    var watchers = 0
    var lease: ChangeLease?
    /// The newest commit when the lease was last seen to hold.
    var heldAt: UInt64 = 0
    /// How often the lease had ended before it was renewed, so that changes may not have been published.
    var lapses = 0
    var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Sleepers that were woken before they slept.
    var woken: Set<UInt64> = []
    var nextSleeper: UInt64 = 0
    var task: Task<Void, Never>?
    var isClosed = false
    /// What the last pulse found prepared and not published.
    var stuck: UInt64 = 0
  }

  init(
    ring: ChangeRing, newest: @escaping @Sendable () -> UInt64,
    machine: @escaping @Sendable () -> Int64
  ) {
    self.ring = ring
    self.newest = newest
    self.machine = machine
  }

  deinit {
    state.withLock { $0.task?.cancel() }
  }

  private var now: UInt64 { UInt64(clamping: machine()) }

  // MARK: Batches

  /// What a batch collects its changes with; nil while nobody watches. Called inside write transaction `transaction`.
  ///
  /// In a store that nobody ever watched this is one comparison; in one that nobody watches now, a few loads.
  func notes(for transaction: UInt64, in store: StoreState) -> ChangeNotes? {
    if store.watched == 0 { return nil }
    if !ring.isUsable {
      if isWithout.load(ordering: .relaxed) { return nil }
      guard ring.open() else {
        isWithout.store(true, ordering: .relaxed)
        return nil
      }
    }
    ring.settle(before: transaction)
    let until = ring.watchedUntil
    if until == 0 { return nil }
    guard ChangeLease.isLive(until, at: now) else {
      ring.forget(until)
      return nil
    }
    return ChangeNotes(feed: self, first: ring.head, transaction: transaction)
  }

  /// The changes up to `target` are committed.
  func publish(_ target: UInt64) {
    ring.publish(target)
    if isAwaited.load(ordering: .sequentiallyConsistent) { wake() }
  }

  /// A batch that collected nothing has committed changes. If somebody began to watch meanwhile, they must know that
  /// there was something: it may not be in what they have read of the store by now.
  func passOver() {
    guard ring.isUsable else { return }
    let until = ring.watchedUntil
    guard until != 0, ChangeLease.isLive(until, at: now) else { return }
    ring.addGap()
    wake()
  }

  // MARK: Watchers

  /// Begins a watch: from now on every batch that begins, in whatever process, publishes its changes, and every one under
  /// way says that it passed.
  ///
  /// - Returns: where the first change to come will be; nil if the file cannot be had.
  func enter() -> (mark: ChangeRing.Mark, lapses: Int)? {
    state.withLock { state in
      guard ring.open() else { return nil }
      isWithout.store(false, ordering: .relaxed)
      state.watchers += 1
      hold(&state)
      if state.task == nil { state.task = pulsing() }
      return (ring.mark, state.lapses)
    }
  }

  func leave() {
    state.withLock { state in
      state.watchers -= 1
      guard state.watchers == 0 else { return }
      state.task?.cancel()
      state.task = nil
      state.lease?.end(on: ring, at: now)
      state.lease = nil
    }
  }

  /// Ends every watch: the store is being closed.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.task?.cancel()
      state.task = nil
      state.lease?.end(on: ring, at: now)
      state.lease = nil
    }
    wake()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// How often writers may have thought that nobody watches.
  var lapses: Int { state.withLock { $0.lapses } }

  /// Sleeps until the ring has moved on from `mark`, or something else is to be looked at. May return early.
  func sleep(at mark: ChangeRing.Mark) async {
    let sleeper = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAwake = state.withLock { state in
          if state.woken.remove(sleeper) != nil || state.isClosed { return true }
          isAwaited.store(true, ordering: .sequentiallyConsistent)
          if ring.mark != mark { return true }
          state.sleepers[sleeper] = continuation
          return false
        }
        if isAwake { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if let continuation = state.sleepers.removeValue(forKey: sleeper) { return continuation }
        state.woken.insert(sleeper)
        return nil
      }
      continuation?.resume()
    }
    _ = state.withLock { $0.woken.remove(sleeper) }
  }

  private func wake() {
    let sleepers = state.withLock { state in
      isAwaited.store(false, ordering: .sequentiallyConsistent)
      defer { state.sleepers = [:] }
      return state.sleepers
    }
    for continuation in sleepers.values { continuation.resume() }
  }

  // MARK: The pulse

  /// How often the head is looked at for what other processes have published.
  private static let shortest = Duration.milliseconds(5)
  private static let longest = Duration.milliseconds(50)

  private func pulsing() -> Task<Void, Never> {
    Task.detached(priority: .utility) { [weak self, ring] in
      var interval = Self.longest
      var mark = ring.mark
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
  func pulse(after mark: ChangeRing.Mark) -> ChangeRing.Mark? {
    let (isWatched, hasLapsed) = state.withLock { state in
      let lapses = state.lapses
      let isWatched = state.watchers > 0 && !state.isClosed
      if isWatched { hold(&state) }
      return (isWatched, state.lapses != lapses)
    }
    guard isWatched else { return nil }
    let seen = ring.mark
    if seen != mark || hasLapsed { wake() }
    return seen
  }

  /// Takes the lease, or renews it in time.
  private func hold(_ state: inout State) {
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
      if commit != state.heldAt { state.lapses += 1 }
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
