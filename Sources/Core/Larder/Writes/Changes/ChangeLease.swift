/// A process's lease on the change ring: until the lease ends, writers publish their changes. Times are milliseconds of the
/// machine's monotonic clock. An end that is later than the end of a new lease is from an earlier boot and does not count.
struct ChangeLease {
  static let length: UInt64 = 10_000
  static let renewal: UInt64 = 2_500

  private(set) var end: UInt64 = 0
  /// The index of the lease's slot; nil if all slots were taken. A lease without a slot ends only when its time is over.
  private var index: Int?

  static func isLive(_ end: UInt64, at now: UInt64) -> Bool { now < end && end - now <= length }

  init(on ring: ChangeRing, at now: UInt64) { renew(on: ring, at: now) }

  mutating func renew(on ring: ChangeRing, at now: UInt64) {
    let old = end
    end = now + Self.length
    // If the file was replaced, or another process has taken the slot of the expired lease, the lease needs another slot.
    if let index, !ring.exchangeLease(index, old, for: end) { self.index = nil }
    if index == nil {
      index = (0..<ChangeRing.leaseCount).first { index in
        let known = ring.lease(index)
        return !Self.isLive(known, at: now) && ring.exchangeLease(index, known, for: end)
      }
    }
    while true {
      let known = ring.watchedUntil
      if Self.isLive(known, at: now), known >= end { return }
      if ring.exchangeWatched(known, for: end) { return }
    }
  }

  /// Ends the lease before its time. For the leases of other processes, writers still publish their changes.
  func end(on ring: ChangeRing, at now: UInt64) {
    guard let index else { return }
    _ = ring.exchangeLease(index, end, for: 0)
    while true {
      let known = ring.watchedUntil
      let ends = (0..<ChangeRing.leaseCount).map(ring.lease)
      let latest = ends.filter { Self.isLive($0, at: now) }.max() ?? 0
      // A live lease without a slot has its end only in this word. So if no slot has this end, the word is not changed.
      if known != end, Self.isLive(known, at: now), !ends.contains(known) { return }
      if ring.exchangeWatched(known, for: latest) { return }
    }
  }
}
