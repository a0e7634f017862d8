import Foundation
import Synchronization

extension Bench {
  private var due: Range<UInt32> {
    data.spare.lowerBound..<data.spare.lowerBound + UInt32(max(1, data.count / 2))
  }

  /// Half as many expired entries as there are fresh ones, removed.
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

  /// The slowest of a thousand random hits while a purge runs, and without it.
  func readsBesidePurge() throws {
    let order = Orders.random(data, distinct: data.count)
    try measure(
      [
        ("hit, p99.9, nothing else going on", .nanoseconds),
        ("hit, p99.9 while a purge runs, times that", .factor),
      ], rounds: settings.longRounds
    ) { contender, round in
      if contender.peer.server != nil { throw Unsupported("is a process of its own") }
      try contender.fill(due, lifetime: .over)
      contender.settle()
      let idle = try latencies(contender, order, round) { _ in Thread.sleep(forTimeInterval: 0.2) }
      let during = try latencies(contender, order, round) { peer in _ = try peer.purge() }
      return [idle, during / idle]
    }
  }

  /// The 99.9th percentile of single reads for as long as `work` takes on another thread.
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
    while !isDone.isSet {
      at = (at + 1) % order.count
      let one = order[at...at]
      let start = ContinuousClock.now
      let tally = try contender.session.read(one)
      let time = (ContinuousClock.now - start).components.attoseconds
      guard tally == data.expected(one) else { throw Failure("read other bytes") }
      times.append(Double(time) / 1e9)
    }
    finished.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    times.sort()
    return times[Int(Double(times.count) * 0.999)]
  }

  /// New entries into a store at its limit, so that each pushes another out.
  func evictions() throws {
    let refusals = contenders.reduce(into: [String: Unsupported]()) { refusals, contender in
      do { try contender.peer.limit() } catch {
        refusals[contender.kind.id] = error as? Unsupported ?? Unsupported("\(error)")
      }
    }
    try inserts("insert while full, batches of 1,000", unless: { refusals[$0.kind.id] })
  }
}
