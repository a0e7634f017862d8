import Synchronization

/// The number of records of the log that one reply may have. Over a slow link many long keys may not arrive within the time
/// limit. So each reply that does not arrive halves the number, and each full reply doubles it.
final class ReplySize: Sendable {
  private static let most = 512
  private let count = Atomic(most)

  var records: Int { count.load(ordering: .relaxed) }

  func halve() { count.store(max(records / 2, 1), ordering: .relaxed) }

  func grow(after received: Int, of asked: Int) {
    if received >= asked { count.store(min(2 * asked, Self.most), ordering: .relaxed) }
  }
}
