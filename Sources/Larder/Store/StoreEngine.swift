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
  let indexes: Indexes
  let identity: [UInt8]
  /// Guards the store's own records.
  let seal: RecordSeal
  let clock: any LarderClock
  /// Whether ``clock`` is the system's, which reads get without the protocol.
  let usesSystemClock: Bool
  let chunksAbove: Int?
  let pageSize: Int
  /// The size of one chunk: a page without LMDB's header, so that chunks need no consecutive pages.
  let chunkSize: Int
  /// Whether there was a handle that may write; only then does closing write what waits.
  let isWritable = Atomic(false)
  /// The wall clock and the monotonic one when the store was opened.
  let opened: (now: Timestamp, monotonic: Duration)
  let verified = VerifiedValues()
  let transforms: TransformPipeline
  /// The value that was last read in pieces and changed by transforms.
  let piecewise = Mutex<(mark: UInt64, value: [UInt8])?>(nil)
  /// The accesses of all processes.
  let access: AccessTable
  /// The last minute in which resizing the access table failed.
  let accessFailure = Atomic<Int64>(.min)
  let removals = PendingExpirations()
  let tombstones = KnownTombstones()
  let loads = SingleFlight<LoadName>()
  let loadWrites = LoadWrites()
  /// Nil for a temporary store, which no other process opens.
  let leases: LoadLeases?
  let uses = PendingAccesses()
  let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
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
    indexes = Indexes(environment.databases)
    identity = format.identity
    seal = RecordSeal(identity: format.identity)
    access = AccessTable(of: environment, store: format.identity)
    leases =
      options.flushes
      ? LoadLeases(
        table: LeaseTable(of: environment, store: format.identity), machine: options.machineClock)
      : nil
    clock = options.clock
    usesSystemClock = options.clock is SystemClock
    chunksAbove = options.chunksAbove
    timer = options.timer
    transforms = TransformPipeline(options.transforms)
    memory = MemoryRegistry(pressure: options.trimsMemory ? options.memoryPressure : nil)
    pageSize = environment.info.pageSize
    chunkSize = pageSize - 16
    opened = (options.clock.now, options.clock.monotonic)
    changes = ChangeFeed(
      ring: ChangeRing(of: environment, store: format.identity, slots: options.changeSlots),
      newest: { environment.lastTransaction }, machine: options.machineClock,
      health: {
        StoreHealth(
          of: environment, needsWriting: !options.readOnly && !options.allowsForeignOwner)
      })
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

  func error(_ error: LMDBError) -> LarderError {
    let found = LarderError(
      error, path: environment.path, details: environment.details(of: error))
    guard error == .damagedPage, let damage = environment.damage else { return found }
    return LarderError(found.code, "\(found.message) (\(damage))", hint: found.hint)
  }

  @inline(__always)
  func beginRead() throws(LarderError) -> ReadTransaction {
    do throws(LMDBError) {
      return try environment.beginRead()
    } catch {
      throw self.error(error)
    }
  }

  /// Milliseconds by the store's clock; the system's may be up to 10 behind.
  @inline(__always)
  var coarseNow: Int64 {
    usesSystemClock ? SystemTime.coarseMilliseconds : clock.now.milliseconds
  }

  /// Minutes since 1970 by the store's clock.
  var coarseMinute: Int64 { coarseNow / 60_000 }

  /// The state of an entry at ``coarseNow``, which decides unless the deadline is so near that it could be wrong.
  @inline(__always)
  func state(of header: EntryHeader, at coarse: Int64) -> Store.Entry.State {
    if header.expires == EntryHeader.never { return .fresh }
    // The exact time is not earlier.
    if coarse >= header.staleUntil { return .expired }
    if usesSystemClock, coarse &+ 10 >= header.expires {
      return header.state(at: SystemTime.milliseconds)
    }
    return header.state(at: coarse)
  }
}

extension EntryHeader {
  /// The state of the entry at `now`. An entry with an end that was written more than a minute in the future counts as stale:
  /// the clock was set back, and the entry would live too long.
  @inline(__always)
  func state(at now: Int64) -> Store.Entry.State {
    if expires == Self.never { return .fresh }
    if now >= staleUntil { return .expired }
    if now >= expires || written &- 60_000 > now { return .stale }
    return .fresh
  }
}
