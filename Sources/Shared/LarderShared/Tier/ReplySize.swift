import Synchronization

/// How many records of the log one reply may have. Many long keys do not arrive over a slow link within the time limit, so that
/// each reply that does not come halves the number, and each full one doubles it.
final class ReplySize: Sendable {
  private static let most = 512
  private let count = Atomic(most)

  var records: Int { count.load(ordering: .relaxed) }

  func halve() { count.store(max(records / 2, 1), ordering: .relaxed) }

  func grow(after received: Int, of asked: Int) {
    if received >= asked { count.store(min(2 * asked, Self.most), ordering: .relaxed) }
  }
}
