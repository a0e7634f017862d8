import LMDB
import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What all handles of one store in this process share.
final class StoreEngine: Sendable {
  let environment: Environment
  let indexes: Indexes
  let identity: [UInt8]
  let clock: any LarderClock
  /// The system's clock is read without going through the protocol.
  let usesSystemClock: Bool
  let chunksAbove: Int?
  let pageSize: Int
  /// What a page of its own holds beside LMDB's header: a value in chunks needs no pages in a row.
  let chunkSize: Int
  /// Set once a handle that may write exists; only then does closing write what waits.
  let isWritable = Atomic(false)
  /// The wall clock and the monotonic one when the store was opened.
  let opened: (now: Timestamp, monotonic: Duration)
  let verified = VerifiedValues()
  /// What was used, by all processes.
  let access: AccessTable
  /// The minute in which the table could not be made as large as it should be.
  let accessFailure = Atomic<Int64>(.min)
  let removals = PendingExpirations()
  let tombstones = KnownTombstones()
  let loads = SingleFlight<LoadName>()
  let uses = PendingAccesses()
  let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  let queue = WriteQueue()
  let fairShare = FairShare()
  /// The store's settings as of a generation of the catalogue.
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
  /// Decoded values.
  let memory = MemoryRegistry()
  let isTemporary = Atomic(false)
  let changes: ChangeFeed
  private let handles = Mutex<[String: NamespaceHandle]>([:])

  init(environment: Environment, format: StoreFormat, options: Store.Options) {
    self.environment = environment
    indexes = Indexes(environment.databases)
    identity = format.identity
    access = AccessTable(of: environment, store: format.identity)
    clock = options.clock
    usesSystemClock = options.clock is SystemClock
    chunksAbove = options.chunksAbove
    timer = options.timer
    pageSize = environment.info.pageSize
    chunkSize = pageSize - 16
    opened = (options.clock.now, options.clock.monotonic)
    changes = ChangeFeed(
      ring: ChangeRing(of: environment, store: format.identity, slots: options.changeSlots),
      newest: { environment.lastTransaction }, machine: options.machineClock)
  }

  // The environment closes itself with its last reference. Here it may already be another opening's.
  deinit {
    // The memories and what they share hold each other.
    memory.budget.remove()
    if isTemporary.load(ordering: .relaxed) {
      environment.close()
      // A temporary directory that cannot be removed is the system's to clean.
      try? FileManager.default.removeItem(atPath: environment.path)
    } else {
      flushLast()
    }
  }

  func handle(for name: String) -> NamespaceHandle {
    handles.withLock { handles in
      if let handle = handles[name] { return handle }
      let handle = NamespaceHandle(name: name)
      handles[name] = handle
      return handle
    }
  }

  var allHandles: [NamespaceHandle] { handles.withLock { Array($0.values) } }

  func error(_ error: LMDBError) -> LarderError { LarderError(error, path: environment.path) }

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
    if usesSystemClock, coarse &+ 10 >= header.expires {
      return header.state(at: SystemTime.milliseconds)
    }
    return header.state(at: coarse)
  }
}

extension EntryHeader {
  /// An entry with an end that was written more than a minute from now says that the clock was set back: it would live
  /// too long, so it is not fresh.
  @inline(__always)
  func state(at now: Int64) -> Store.Entry.State {
    if expires == Self.never { return .fresh }
    if now >= staleUntil { return .expired }
    if now >= expires || written &- 60_000 > now { return .stale }
    return .fresh
  }
}
