import LMDB
import LarderSystem

/// The changes of one batch, written into the ring as they are made and published when the batch is committed.
struct PendingChanges {
  let feed: ChangeFeed
  let transaction: UInt64
  private let first: UInt64
  private var count: UInt64 = 0

  init(feed: ChangeFeed, first: UInt64, transaction: UInt64) {
    self.feed = feed
    self.first = first
    self.transaction = transaction
  }

  mutating func add(_ record: ChangeRecord) {
    feed.ring.write(record, at: first + count)
    count += 1
  }

  /// The batch is about to be committed.
  func prepare() {
    if count > 0 { feed.ring.prepare(first + count, transaction: transaction) }
  }

  func publish() {
    if count > 0 { feed.publish(first + count) }
  }

  /// The batch was not committed after all.
  func takeBack() {
    if count > 0 { feed.ring.discard(first + count) }
  }
}
