/// A process's lease on the change ring: until the lease ends, writers publish their changes. Times are milliseconds of the
/// machine's monotonic clock. An end that is later than the end of a new lease is from an earlier boot and does not count.
struct ChangeLease {
  static let length: UInt64 = 10_000
  static let renewal: UInt64 = 2_500

  private(set) var end: UInt64 = 0
  /// The place of the lease in the ring; nil if all were taken. A lease without a place ends only when its time is over.
  private var place: Int?

  static func isLive(_ end: UInt64, at now: UInt64) -> Bool { now < end && end - now <= length }

  init(on ring: ChangeRing, at now: UInt64) { renew(on: ring, at: now) }

  mutating func renew(on ring: ChangeRing, at now: UInt64) {
    let old = end
    end = now + Self.length
    // If the file was replaced, or another process has taken the place of the expired lease, the lease needs another place.
    if let place, !ring.exchange(old, for: end, at: place) { self.place = nil }
    if place == nil {
      place = ChangeRing.Place.leases.first { place in
        let known = ring.load(place)
        return !Self.isLive(known, at: now) && ring.exchange(known, for: end, at: place)
      }
    }
    while true {
      let known = ring.watchedUntil
      if Self.isLive(known, at: now), known >= end { return }
      if ring.exchange(known, for: end, at: ChangeRing.Place.watched) { return }
    }
  }

  /// Ends the lease before its time. For the leases of other processes, writers still publish their changes.
  func end(on ring: ChangeRing, at now: UInt64) {
    guard let place else { return }
    _ = ring.exchange(end, for: 0, at: place)
    while true {
      let known = ring.watchedUntil
      let ends = ChangeRing.Place.leases.map(ring.load)
      let latest = ends.filter { Self.isLive($0, at: now) }.max() ?? 0
      // A live lease without a place has its end only in this word. So if no place has this end, the word is not changed.
      if known != end, Self.isLive(known, at: now), !ends.contains(known) { return }
      if ring.exchange(known, for: latest, at: ChangeRing.Place.watched) { return }
    }
  }
}
