import Larder
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the log of the tier in one process of a store, and applies the records to the store's copies.
///
/// Every half second the reader also looks at the head: without new records, only the look shows that the tier is reachable.
struct LogReader: Sendable {
  /// How often a process that does not read the log tests whether it must become the reader.
  private static let watch = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(2)

  let tier: any SharedTier
  let copies: LocalCopies
  let process = ProcessInfo.processInfo.processIdentifier
  let options: SharedOptions
  let breaker: Breaker
  let count: @Sendable ((inout Shared.Statistics) -> Void) -> Void

  var clock: any LarderClock { copies.store.clock }

  /// Runs until the task is cancelled, the store is closed, or this process cannot write to the store any more.
  func run() async {
    var lease: UInt64?
    defer { if let lease { copies.recent.resign(lease) } }
    var pause = Self.watch
    while !Task.isCancelled, !copies.store.isClosed {
      do {
        copies.recent.open(makesFile: true)
        lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
        if lease != nil { try await follow(&lease, &pause) }
        pause = Self.watch
      } catch is CancellationError {
        return
      } catch let error as LarderError where [.closed, .forked, .readOnly].contains(error.code) {
        return
      } catch {
        // The tier cannot be reached, or the store is busy or full. So the copies are unconfirmed until the log is applied again.
        count {
          $0.failures += 1
          $0.lastFailure = String(describing: error)
        }
        if let held = lease { copies.recent.resign(held) }
        lease = nil
      }
      let next = clock.monotonic + pause * Double.random(in: 0.5...1)
      do { try await clock.sleep(until: next) } catch { return }
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private func follow(_ lease: inout UInt64?, _ pause: inout Duration) async throws {
    var follower = LogFollower(self, at: try await start())
    while !Task.isCancelled {
      lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
      guard lease != nil else { return }
      if follower.isLookDue {
        guard let look = try await follower.look() else { continue }
        breaker.succeeded()
        pause = Self.watch
        try await sendRemovals(&lease)
        // Another process may have taken the lease meanwhile and begun with another history, so this process must stop reading.
        guard lease != nil else { return }
        try await follower.compare(look)
      }
      try await follower.readRecords()
    }
  }

  /// Continues at the position of the store's last reader, or begins with a new history.
  func start() async throws -> LocalState.Progress {
    let known = try copies.state.progress()
    // If the progress has no position, a process began a history and did not finish, so this process begins another history.
    if let known, known.application == tier.application, known.position != .zero {
      // The file of recent changes is new, so its slots must refuse all values from before this position.
      if copies.recent.applied == .zero {
        copies.recent.replace(RecentChanges.none, with: known.position)
      }
      return known
    }
    return try await begin(insteadOf: known)
  }

  func begin(insteadOf known: LocalState.Progress?) async throws -> LocalState.Progress {
    let begun = try await copies.begin(tier.application, insteadOf: known?.epoch) {
      try await tier.newestRecord()
    }
    if let begun { return begun }
    // Another process has already begun with a new history, or the progress was lost.
    if let present = try copies.state.progress() { return present }
    return try await begin(insteadOf: nil)
  }

  private func sendRemovals(_ lease: inout UInt64?) async throws {
    try await copies.outbox.remove([])
    while true {
      lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
      let waiting = try copies.outbox.oldest()
      if waiting.isEmpty { return }
      var sent: [Key] = []
      var failure: (any Error)?
      do {
        for (key, change) in waiting {
          if let change { copies.recent.note(change.subject, at: try await tier.change(change)) }
          sent.append(key)
        }
      } catch { failure = error }
      count { $0.sent += sent.count }
      try await copies.outbox.remove(sent)
      if let failure { throw failure }
    }
  }
}
