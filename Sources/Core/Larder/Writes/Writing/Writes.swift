import Synchronization

/// The parts that all writes of this process share, and the facts that one write leaves to the next.
struct Writes: ~Copyable, Sendable {
  let queue = WriteQueue()
  let committed = CommittedLedger()
  let fairShare = FairShare()
  /// How many pages of a full data file a batch that runs once should begin with: those that an earlier one needed.
  let pagesForBatches = Atomic(0)
  /// The store's settings, and the generation they are of.
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
}
