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
  let newest: @Sendable () -> UInt64
  /// The machine's monotonic clock in milliseconds, the same for all processes: not the store's, which tests move.
  private let machine: @Sendable () -> Int64
  let state = Mutex(State())
  let sleepers = Sleepers()
  /// The file could not be had: batches do not try again, watchers do.
  private let isWithout = Atomic(false)

  struct State {
    var watchers = 0
    var lease: ChangeLease?
    /// The newest commit when the lease was last seen to hold.
    var heldAt: UInt64 = 0
    /// How often the lease had ended before it was renewed, so that changes may not have been published.
    var leaseExpirations = 0
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

  var now: UInt64 { UInt64(clamping: machine()) }

  // MARK: Batches

  /// What a batch collects its changes with; nil while nobody watches. Called inside write transaction `transaction`.
  ///
  /// In a store that nobody ever watched this is one comparison; in one that nobody watches now, a few loads.
  func notes(for transaction: UInt64, in store: StoreState) -> PendingChanges? {
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
    return PendingChanges(feed: self, first: ring.head, transaction: transaction)
  }

  /// The changes up to `target` are committed.
  func publish(_ target: UInt64) {
    ring.publish(target)
    sleepers.wake()
  }

  /// A batch that collected nothing has committed changes. If somebody began to watch meanwhile, they must know that
  /// there was something: it may not be in what they have read of the store by now.
  func recordGap() {
    guard ring.isUsable else { return }
    let until = ring.watchedUntil
    guard until != 0, ChangeLease.isLive(until, at: now) else { return }
    ring.addGap()
    sleepers.wake()
  }

  // MARK: Watchers

  /// Begins a watch: from now on every batch that begins, in whatever process, publishes its changes, and every one under
  /// way says that it passed.
  ///
  /// - Returns: where the first change to come will be; nil if the file cannot be had.
  func enter() -> (mark: ChangeRing.AccessStats, leaseExpirations: Int)? {
    state.withLock { state in
      guard ring.open() else { return nil }
      isWithout.store(false, ordering: .relaxed)
      state.watchers += 1
      hold(&state)
      if state.task == nil { state.task = pulsing() }
      return (ring.mark, state.leaseExpirations)
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
    sleepers.wake()
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// How often writers may have thought that nobody watches.
  var leaseExpirations: Int { state.withLock { $0.leaseExpirations } }

  /// Sleeps until the ring has moved on from `mark`, or something else is to be looked at. May return early.
  func sleep(at mark: ChangeRing.AccessStats) async {
    await sleepers.sleep(unless: { isClosed || ring.mark != mark })
  }
}
