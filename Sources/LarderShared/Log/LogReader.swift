import Larder
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the log of the tier for one store, and applies it to the store's copies.
///
/// Of all processes of a store one reads, and the others see the result as they see every commit. Half a second without
/// a change is followed by a look at the head, so that a log that is silent is told from a machine that is cut off.
struct LogReader: Sendable {
  /// How long one request waits for a record, and the time between two looks at the head.
  static let interval = Duration.milliseconds(500)
  /// How often a process that does not read looks whether it has to.
  private static let watch = Duration.milliseconds(100)
  /// A reader that finds nothing to apply writes down its position that often.
  private static let progressInterval = Duration.seconds(10)
  private static let longestPause = Duration.seconds(2)

  let tier: any SharedTier
  let copies: LocalCopies
  let process = ProcessInfo.processInfo.processIdentifier
  let options: SharedOptions
  let breaker: Breaker
  /// Counts for ``Shared/statistics``.
  let count: @Sendable ((inout Shared.Statistics) -> Void) -> Void

  private var clock: any LarderClock { copies.store.clock }

  /// Runs until the task is cancelled or the store is closed.
  func run() async {
    var lease: UInt64?
    defer { if let lease { copies.recent.resign(lease) } }
    var pause = Self.watch
    while !Task.isCancelled {
      do {
        lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
        if lease != nil { try await follow(&lease, &pause) }
        pause = Self.watch
      } catch is CancellationError {
        return
      } catch let error as LarderError where Self.ends.contains(error.code) {
        return
      } catch {
        // The tier cannot be reached, or the store is busy or full. The copies become unconfirmed meanwhile.
        if let held = lease { copies.recent.resign(held) }
        lease = nil
      }
      do {
        try await clock.sleep(until: clock.monotonic + pause * Double.random(in: 0.5...1))
      } catch {
        return
      }
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private static let ends: Set<LarderError.Code> = [.closed, .forked, .readOnly]

  /// Follows the log as long as this process has the lease.
  private func follow(_ lease: inout UInt64?, _ pause: inout Duration) async throws {
    var progress = try await start()
    var written = clock.monotonic
    var looked: Duration?
    /// When the last records were applied, or the pause after them ended.
    var answered: Duration?
    /// A position that the reader has to reach, and the moment at which it was the newest.
    var goal: (head: Position, moment: Duration, wall: Timestamp)?
    while !Task.isCancelled {
      lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
      guard lease != nil else { return }
      if goal == nil, looked.map({ clock.monotonic - $0 >= Self.interval }) ?? true {
        let (moment, wall) = (clock.monotonic, copies.store.now)
        let look = try await tier.look(at: progress.position)
        guard let head = look.head, look.record?.digest == progress.digest else {
          progress = try await beginAnew(insteadOf: progress)
          continue
        }
        breaker.succeeded()
        pause = Self.watch
        looked = moment
        try await sendRemovals(&lease)
        if head == progress.position {
          try copies.confirm(monotonic: moment, wall: wall)
        } else {
          goal = (head, moment, wall)
        }
        copies.recent.publish(applied: progress.position, head: head)
      }
      let records = try await tier.records(
        after: progress.position, waiting: goal == nil ? Self.interval : .zero)
      if records.isEmpty, goal == nil { continue }
      var next = progress
      var isComplete = !records.isEmpty
      for record in records {
        isComplete = isComplete && record.previous == next.digest
        (next.position, next.digest) = (record.position, record.digest)
      }
      guard isComplete else {
        progress = try await beginAnew(insteadOf: progress)
        (goal, looked) = (nil, nil)
        continue
      }
      let keeps = clock.monotonic - written >= Self.progressInterval
      guard let removed = try await copies.apply(records, next, keepsProgress: keeps) else {
        progress = try await start()
        (goal, looked) = (nil, nil)
        continue
      }
      if keeps || removed > 0 { written = clock.monotonic }
      progress = next
      if let reached = goal, records.contains(where: { $0.position == reached.head }) {
        try copies.confirm(monotonic: reached.moment, wall: reached.wall)
        goal = nil
      }
      copies.recent.publish(applied: progress.position, head: nil)
      count {
        $0.records += records.count
        $0.superseded += removed
      }
      // A change that comes alone is read at once. One answer for many that come quickly is cheaper for the server and for
      // this machine.
      let (now, before) = (clock.monotonic, answered)
      answered = now
      if goal == nil, options.pace > .zero,
        records.count > 1 || before.map({ now - $0 < options.pace }) ?? false
      {
        try await clock.sleep(until: now + options.pace)
        answered = clock.monotonic
      }
    }
  }

  /// Goes on from where the store's last reader came to, or begins.
  private func start() async throws -> LocalState.Progress {
    let known = try copies.state.progress()
    // Without a position it began and did not end.
    if let known, known.application == tier.application, known.position != .zero {
      // The file is a new one: it has none of the changes up to there.
      if copies.recent.applied == .zero {
        copies.recent.replace(RecentChanges.none, with: known.position)
      }
      return known
    }
    return try await begin(insteadOf: known)
  }

  /// The log does not have what this machine has missed, or has another history: no copy can be brought up to date.
  private func beginAnew(insteadOf known: LocalState.Progress) async throws -> LocalState.Progress {
    count { $0.gaps += 1 }
    return try await begin(insteadOf: known)
  }

  private func begin(insteadOf known: LocalState.Progress?) async throws -> LocalState.Progress {
    let begun = try await copies.begin(tier.application, insteadOf: known?.epoch) {
      try await tier.newestRecord()
    }
    if let begun { return begun }
    // Another process was faster.
    guard let present = try copies.state.progress() else { throw CancellationError() }
    return present
  }

  /// Sends the removals that wait, in their order.
  private func sendRemovals(_ lease: inout UInt64?) async throws {
    while true {
      lease = copies.recent.lead(lease, at: clock.monotonic, process: process)
      let waiting = try copies.outbox.oldest()
      if waiting.isEmpty { return }
      var sent: [Key] = []
      do {
        for (key, change) in waiting {
          if let change { _ = try await tier.change(change) }
          sent.append(key)
        }
      } catch {
        try await copies.outbox.remove(sent)
        throw error
      }
      try await copies.outbox.remove(sent)
      count { $0.sent += sent.count }
    }
  }
}
