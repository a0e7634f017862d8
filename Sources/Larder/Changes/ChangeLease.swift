/// A process's word that it watches, given to all writers for a while and renewed before that ends.
///
/// A watcher that is killed stops renewing, and writers stop publishing. Times are milliseconds of the machine's
/// monotonic clock, which all processes share; one further ahead than a lease is long is of another boot.
struct ChangeLease {
  static let length: UInt64 = 10_000
  static let renewal: UInt64 = 2_500

  private(set) var end: UInt64
  /// Its word among the leases; nil if all were taken, in which case only its end ends it.
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
    // Another file may have come in the place of the old, or another process may have taken the word of a dead one.
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

  /// Lets go; writers go on for those who still watch.
  func end(on ring: ChangeRing, at now: UInt64) {
    guard let index else { return }
    _ = ring.exchangeLease(index, end, for: 0)
    while true {
      let known = ring.watchedUntil
      let ends = (0..<ChangeRing.leaseCount).map(ring.lease)
      let latest = ends.filter { Self.isLive($0, at: now) }.max() ?? 0
      // One that has no word of its own is known by nothing but this.
      if known != end, Self.isLive(known, at: now), !ends.contains(known) { return }
      if ring.exchangeWatched(known, for: latest) { return }
    }
  }
}
