import Synchronization

/// The parts that all writes of this process share, and the facts that one write leaves to the next write.
struct Writes: ~Copyable, Sendable {
  let queue = WriteQueue()
  let committed = CommittedLedger()
  let fairShare = FairShare()
  /// The number of free pages with which a batch that runs once should begin: an earlier batch in a full data file needed them.
  let pagesForBatches = Atomic(0)
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
}
