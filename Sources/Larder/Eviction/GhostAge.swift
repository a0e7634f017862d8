/// How old the ghosts of a namespace are, counted in its own evictions.
///
/// A ghost has 11 bits for the time it died. One step of that clock is so many evictions that a ghost's life is 64 to 512
/// steps, in small namespaces and large: long enough to tell a recent one from an old one, and short enough that the
/// clock does not come round while ghosts of a namespace that is small in a large store lie about.
struct GhostAge {
  private var evictions: UInt64
  private let shift: UInt64
  private let entries: UInt64

  /// A ghost lives for so many times as many evictions as there are entries.
  private static let life: UInt64 = 4

  init(_ state: QueueState, entries: UInt64) {
    evictions = state.evictions
    self.entries = entries
    // Changed only when the number of entries has left it far behind: ghosts of before then have a wrong age.
    let log = UInt64(63 - max(1, entries).leadingZeroBitCount)
    shift = min(max(state.ageShift, log < 6 ? 0 : log - 6), log < 4 ? 0 : log - 4)
  }

  func store(in state: inout QueueState) {
    state.evictions = evictions
    state.ageShift = shift
  }

  /// What a ghost that dies now is stamped with.
  var stamp: UInt64 { evictions >> shift }

  mutating func evicted() { evictions &+= 1 }

  private func age(_ ghost: GhostWord) -> UInt64 { ghost.age(at: stamp) << shift }

  func isAlive(_ ghost: GhostWord) -> Bool { age(ghost) < Self.life * entries }

  /// Whether it was evicted so recently that it should not have been.
  func isRegret(_ ghost: GhostWord) -> Bool { age(ghost) <= entries / 2 }
}
