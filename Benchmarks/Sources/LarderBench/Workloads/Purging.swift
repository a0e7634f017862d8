import Foundation
import Synchronization

extension Bench {
  private var due: Range<UInt32> {
    data.spare.lowerBound..<data.spare.lowerBound + UInt32(max(1, data.count / 2))
  }

  /// Removes expired entries, which are half as many as the entries that have not expired.
  func purging() throws {
    try measure("purge, per expired entry", rounds: settings.longRounds) { contender, _ in
      defer { contender.settle() }
      try contender.fill(due, lifetime: .over)
      var removed = 0
      let time = try contender.clock(settings.clock).time { removed = try contender.peer.purge() }
      guard removed == due.count else { throw Failure("purged \(removed) of \(due.count)") }
      return time / Double(removed)
    }
  }

  /// The 99.9th percentile of random hits while a purge or an eviction removes half as many entries as are stored. The result
  /// is compared with the same hits while nothing else runs.
  func readsBesideRemovals() throws {
    try readsBeside("a purge", filling: .over) { [due] peer in
      let removed = try peer.purge()
      guard removed == due.count else { throw Failure("purged \(removed) of \(due.count)") }
    }
    try readsBeside("an eviction", filling: .day) { [due] peer in try peer.evict(due.count) }
  }

  private func readsBeside(
    _ name: String, filling lifetime: Lifetime,
    _ work: @escaping @Sendable (any Peer) throws -> Void
  ) throws {
    let order = Orders.random(data, distinct: data.count)
    try measure(
      [
        ("hit, p99.9, before \(name)", .nanoseconds), ("hit, p99.9, beside \(name)", .nanoseconds),
        ("hit, p99.9, beside \(name), times that before", .factor),
      ], rounds: settings.longRounds
    ) { contender, round in
      if contender.peer.server != nil { throw Unsupported("is a process of its own") }
      try contender.fill(due, lifetime: lifetime)
      contender.settle()
      let pause = settings.roundTime / 1e9 * 8
      let idle = try latencies(contender, order, round) { _ in
        Thread.sleep(forTimeInterval: pause)
      }
      let during = try latencies(contender, order, round, while: work)
      return [idle, during, during / idle]
    }
  }

  /// The 99.9th percentile of the times of single reads while `work` runs on another thread. An evicted entry counts as a miss.
  private func latencies(
    _ contender: Contender, _ order: [UInt32], _ round: Int,
    while work: @escaping @Sendable (any Peer) throws -> Void
  ) throws -> Double {
    let isDone = Latch()
    let failure = Mutex<(any Error)?>(nil)
    let peer = contender.peer
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try work(peer) } catch { failure.withLock { $0 = error } }
      isDone.set()
      finished.signal()
    }
    var times: [Double] = []
    times.reserveCapacity(1 << 20)
    var at = round * 1009
    // In a small store, `work` may end before the first read, so at least 1,000 reads are timed.
    while !isDone.isSet || times.count < 1000 {
      at = (at + 1) % order.count
      let one = order[at...at]
      let start = ContinuousClock.now
      let tally = try contender.session.read(one)
      let time = ContinuousClock.now - start
      guard tally == data.expected(one) || tally == Tally() else {
        throw Failure("read other bytes")
      }
      times.append(time / .nanoseconds(1))
    }
    finished.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    times.sort()
    return times[Int(Double(times.count) * 0.999)]
  }

  /// Inserts new entries into a store that is at its limit, so that each insert evicts an entry.
  func evictions() throws {
    let refusals = contenders.reduce(into: [String: Unsupported]()) { refusals, contender in
      do { try contender.peer.limit() } catch {
        refusals[contender.kind.id] = error as? Unsupported ?? Unsupported("\(error)")
      }
    }
    var fresh = FreshEntries(data)
    try inserts("insert while full, each evicts one, batches of 1,000", of: &fresh) {
      refusals[$0.kind.id]
    }
    try singleInserts("single insert while full, each evicts one", of: &fresh) {
      refusals[$0.kind.id]
    }
    try paced("insert at 5,000 a second while full", rate: 5000) { contender, _, count in
      if let refusal = refusals[contender.kind.id] { throw refusal }
      return fresh.next(count, of: contender)
    }
  }
}
