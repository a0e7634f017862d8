import Larder
import LarderShared

extension TierConformance {
  func checkSet(_ tier: some SharedTier, _ key: SharedKey) async throws {
    try require(try await tier.fetch(key, tags: []) == nil, "a new key has no value")
    let frame = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
    let start = ContinuousClock.now
    let position = try await tier.change(.set(key, value(frame)))
    let found = try await tier.fetch(key, tags: [])
    let oldest = ContinuousClock.now - start + .seconds(5)
    try require(found?.frame == frame, "a value comes back byte for byte")
    try require(found?.stamp.version == position, "a set returns the version of its value")
    try require(found?.isInvalidated == false, "a new value counts")
    try require((found?.age ?? .zero) < oldest, "a new value is young")
    _ = try await tier.change(.set(key, value([])))
    try require(try await tier.fetch(key, tags: [])?.frame == [], "an empty value is a value")
  }

  func checkRemoval(_ tier: some SharedTier, _ key: SharedKey) async throws {
    _ = try await tier.change(.set(key, value([1])))
    let stamp = try await tier.fetch(key, tags: [])?.stamp
    let lease = try await granted(tier, key, rejecting: stamp)
    _ = try await tier.change(.remove(key))
    try require(try await tier.fetch(key, tags: []) == nil, "a removed value is gone")
    try require(
      try await tier.fill(key, value([2]), lease) == nil, "a removal ends the lease of a load")
    try require(try await tier.fetch(key, tags: []) == nil, "a value loaded before is not stored")
    let next = try await granted(tier, key)
    let filled = try await tier.fill(key, value([3]), next)
    try require(filled != nil, "a load after the removal is stored")
  }

  func checkLease(_ tier: some SharedTier, _ key: SharedKey) async throws {
    let lease = try await granted(tier, key)
    let other = try await tier.acquire(key, rejecting: nil, as: LeaseToken(), for: .seconds(60))
    guard case .held(let left) = other else {
      throw ConformanceFailure(description: "a lease is granted to one caller, not \(other)")
    }
    try require(left > .zero && left <= .seconds(60), "the time left is that of the lease")
    let stamp = try await tier.fill(key, value([1]), lease)
    let found = try await tier.fetch(key, tags: [])
    try require(stamp != nil && found?.stamp == stamp, "a fill returns the stamp of its value")
    let late = try await tier.acquire(key, rejecting: nil, as: LeaseToken(), for: .seconds(60))
    try require(late == .changed, "no lease is granted while there is a value not yet seen")
    _ = try await granted(tier, key, rejecting: found?.stamp)
  }

  func checkLeaseEnds(_ tier: some SharedTier, _ key: SharedKey) async throws {
    let first = try await granted(tier, key, for: .milliseconds(30))
    try await wait(for: "a lease ends by itself") {
      try await !tier.renew(key, first.token, for: .milliseconds(1))
    }
    let second = try await granted(tier, key)
    try require(
      try await !tier.renew(key, first.token, for: .seconds(60)), "a lost lease is not renewed")
    try require(try await tier.renew(key, second.token, for: .seconds(60)), "a lease is renewed")
    try await tier.release(key, first.token)
    try require(
      try await tier.renew(key, second.token, for: .seconds(60)),
      "a release ends no other caller's lease")
    try await tier.release(key, second.token)
    _ = try await granted(tier, key)
  }

  func checkFill(_ tier: some SharedTier, _ key: SharedKey) async throws {
    let head = try await tier.change(.remove(key))
    let none = Lease(token: LeaseToken(), head: head)
    try require(try await tier.fill(key, value([1]), none) == nil, "a fill needs the lease")
    let lease = try await granted(tier, key)
    _ = try await tier.change(.set(key, value([2])))
    try require(try await tier.fill(key, value([3]), lease) == nil, "a set ends the lease")
    try require(try await tier.fetch(key, tags: [])?.frame == [2], "the value of the set stays")
  }

  func checkLog(_ tier: some SharedTier, _ key: SharedKey) async throws {
    let first = try await tier.newestRecord()
    var own = [try await tier.change(.set(key, value([1])))]
    own.append(try await tier.change(.remove(key)))
    own.append(try await tier.change(.clear(namespace: key.namespace)))
    own.append(try await tier.change(.invalidate(tag: key.namespace)))
    // Other clients may change the tier between the two requests, so the second reply may have more records.
    let records = try await tier.records(after: first.position, waiting: .seconds(1))
    try require(
      try await tier.records(after: first.position, waiting: .zero).starts(with: records),
      "without a wait the same records are found")
    var previous = first.digest
    for record in records {
      try require(record.previous == previous, "a record names the one before it")
      previous = record.digest
    }
    let subjects = records.filter { own.contains($0.position) }.map(\.subject)
    let expected: [LogRecord.Subject] = [
      .key(key), .key(key), .namespace(key.namespace), .tag(key.namespace),
    ]
    try require(subjects == expected, "the log has each change, in order, and no load")
    let last = try await tier.look(at: own[3])
    try require(last.record == records.first { $0.position == own[3] }, "a record can be looked at")
    try require((last.head ?? .zero) >= own[3], "the head is the newest position")
    let later = Position(milliseconds: own[3].milliseconds + 60_000, sequence: 0)
    try require(
      try await tier.records(after: later, waiting: .milliseconds(20)) == [],
      "nothing is returned when no record came")
    let none = try await tier.look(at: Position(milliseconds: 1, sequence: 1))
    try require(none.record == nil, "there is no record at a position that no change had")
    let head = try await tier.newestRecord().position
    try require(head >= own[3], "the newest record is that of the last change")
  }

  /// - Parameter change: the change that raises a floor. Values of the key that were set before the change are then invalid.
  func checkFloor(
    _ tier: some SharedTier, _ key: SharedKey, tags: [String], _ change: TierChange
  ) async throws {
    _ = try await tier.change(.set(key, value([1], tags: tags)))
    let floor = try await tier.change(change)
    let hidden = try await tier.fetch(key, tags: tags)
    try require(hidden?.isInvalidated ?? true, "an older value does not count")
    let lease = try await granted(tier, key, rejecting: hidden?.stamp)
    let stamp = try await tier.fill(key, value([2], tags: tags), lease)
    try require(stamp.map { $0.version >= floor } ?? false, "a load after the change is stored")
    let filled = try await tier.fetch(key, tags: tags)
    try require(
      filled?.frame == [2] && filled?.isInvalidated == false, "a value filled afterwards counts")
    let older = try await granted(tier, key, rejecting: filled?.stamp)
    _ = try await tier.change(change)
    try require(
      try await tier.fill(key, value([3], tags: tags), older) == nil,
      "a load that began before the change is not stored")
    _ = try await tier.change(.set(key, value([4], tags: tags)))
    try require(try await tier.fetch(key, tags: tags)?.isInvalidated == false, "a later set counts")
  }
}
