import BenchData
import Synchronization

extension Tally {
  init(_ tally: bench_tally) { self.init(found: Int(tally.found), sum: tally.sum) }
}

extension Lifetime {
  /// The time of expiry in milliseconds after 1970.
  var deadline: UInt64 { self == .day ? bench_now() + 86_400_000 : 1 }
}

/// A flag that can be set, but not cleared.
final class Latch: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
