import LMDB
import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state that all handles of one store in this process share, and the services that work on it.
final class StoreEngine: Sendable {
  let environment: Environment
  /// Finds and lends entries.
  let reader: EntryReader
  let chunksAbove: Int?
  let pageSize: Int
  /// Whether there was a handle that may write; only then does closing write what waits.
  let isWritable = Atomic(false)
  /// The wall clock and the monotonic one when the store was opened.
  let opened: (now: Timestamp, monotonic: Duration)
  /// The last minute in which resizing the access table failed.
  let accessFailure = Atomic<Int64>(.min)
  let loads = SingleFlight<LoadName>()
  let loadWrites = LoadWrites()
  /// Nil for a temporary store, which no other process opens.
  let leases: LoadLeases?
  let queue = WriteQueue()
  let committed = CommittedCounters()
  let fairShare = FairShare()
  /// How many pages of a full data file a batch that runs once should begin with: those that an earlier one needed.
  let pagesForBatches = Atomic(0)
  /// The store's settings, and the generation they are of.
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
  /// Decoded values.
  let memory: MemoryRegistry
  let isTemporary = Atomic(false)
  let changes: ChangeFeed
  private let counted = CountedHandles()
  private let handles: Mutex<NamespaceHandles>

  init(environment: Environment, format: StoreFormat, options: Store.Options) {
    self.environment = environment
    handles = Mutex(NamespaceHandles(listedIn: counted))
    reader = EntryReader(of: environment, format: format, options: options)
    leases =
      options.flushes
      ? LoadLeases(
        table: LeaseTable(of: environment, store: format.identity), machine: options.machineClock)
      : nil
    chunksAbove = options.chunksAbove
    memory = MemoryRegistry(pressure: options.trimsMemory ? options.memoryPressure : nil)
    pageSize = environment.info.pageSize
    opened = (options.clock.now, options.clock.monotonic)
    changes = ChangeFeed(
      ring: ChangeRing(of: environment, store: format.identity, slots: options.changeSlots),
      newest: { environment.lastTransaction }, machine: options.machineClock,
      health: {
        StoreHealth(
          of: environment, needsWriting: !options.readOnly && !options.allowsForeignOwner)
      })
    reader.uses.whenDue { [weak self] in self?.writeDueAccessTimes() }
  }

  // The environment closes itself with its last reference. Here it may already be another opening's.
  deinit {
    // The memory tiers and their budget refer to each other.
    memory.budget.remove { _ in true }
    if isTemporary.load(ordering: .relaxed) {
      environment.close()
      // If that fails, the system cleans its temporary directory.
      try? FileManager.default.removeItem(atPath: environment.path)
    } else {
      flushLast()
    }
    counted.removeAll()
  }

  /// In a forked child a thread of the parent may own the lock for ever, and no handle is of use there.
  func handle(for name: String) -> NamespaceHandle {
    if environment.isForked { return NamespaceHandle(name: name, listedIn: counted) }
    return handles.withLock { $0.handle(for: name) }
  }

  var allHandles: [NamespaceHandle] { handles.withLock { $0.all } }

  /// The handles whose reads the store has not counted yet.
  var handlesWithCounts: [NamespaceHandle] { counted.unmerged }

  @inline(__always)
  func beginRead() throws(LarderError) -> ReadTransaction { try reader.beginRead() }
}

// Parts of the reader that writers use, too.
extension StoreEngine {
  var indexes: Indexes { reader.indexes }
  var identity: [UInt8] { reader.identity }
  var metadata: MetadataReader { reader.metadata }
  var seal: RecordSeal { reader.metadata.seal }
  var clock: StoreClock { reader.clock }
  var transforms: TransformPipeline { reader.transforms }
  var access: AccessTable { reader.access }
  var uses: PendingAccesses { reader.uses }
  var removals: PendingExpirations { reader.removals }
}
