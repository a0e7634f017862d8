import LMDB
package import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A cache on disk, shared by any number of threads and processes.
///
/// A `Store` is a handle. Copies of the handle and further openings of the same path in this process share one environment. The
/// environment closes when its last handle is released, or with ``close()``.
///
/// Without ``close()``, the release of the last handle writes the access times, removals and counts that reads have left. The
/// end of the process, by `exit` or by a return from `main`, does the same for stores that are still open, such as globals of
/// `main.swift`, and removes temporary stores. Each of these writes waits for other writers for at most 100 ms, and reports no
/// errors. An error loses only these access times, removals and counts. Call ``close()`` to see errors.
public struct Store: Sendable {
  let engine: StoreEngine
  /// Whether every change through this handle throws ``LarderError/Code/readOnly``.
  public let isReadOnly: Bool

  /// Options for opening a store. The first opening in a process sets ``lockTimeout``, ``checkpointInterval``, ``transforms``,
  /// ``trimsMemory`` and ``writeBuffer`` for the process. If this opening is read-only, the process never appends to the buffer.
  public struct Options: Sendable {
    /// Whether to make a missing store; if false, the opening of a missing store throws ``LarderError/Code/notFound``.
    public var create = true
    /// Whether to refuse every change through this handle. A read-only handle never makes a store.
    public var readOnly = false
    /// The clock for expiry. All openings of a store in one process must use the system's clock, or one object of a class.
    public var clock: any LarderClock = SystemClock()
    /// How long a transaction waits for a writer of another process, or for one write of another thread, before it throws
    /// ``LarderError/Code/busy``. Reads of many keys may need a transaction, too.
    public var lockTimeout = Duration.seconds(10)
    /// The limits to declare for the whole store; nil changes no limit. See ``Store/declare(_:)``.
    ///
    /// A new store that is not temporary has a default of ``StoreLimits/disk`` until a limit is declared.
    /// ``StoreLimits/unlimited`` removes this default.
    public var limits: StoreLimits?
    /// Whether to accept a store that belongs to another user. If true, the handle is read-only, even for the user's own store.
    public var allowsForeignOwner = false
    /// The durability that a new store gets and keeps; nil means ``Durability/checkpointed``. If an existing store has another
    /// durability, opening throws ``LarderError/Code/invalidArgument``. Nil accepts every durability of an existing store.
    public var durability: Durability?
    /// The longest time from a write to its commit. At ``Durability/checkpointed``, this is also the longest time from a commit
    /// to its checkpoint, so a checkpoint follows a write after at most twice this interval.
    public var checkpointInterval = Duration.milliseconds(200)
    /// Transforms, such as compression and encryption. Before a value is stored, each transform changes the value, in the order
    /// of the array. Reads undo the changes. Values that were stored without transforms stay readable, except if a transform
    /// has ``ValueTransform/isRequired``. All openings of one store in a process need equal transforms.
    public var transforms: [any ValueTransform] = []
    /// Whether the memory tier drops decoded values if the system is short of memory: half at a warning, nine tenths if memory
    /// is critical. Larder asks the system at most once a second.
    public var trimsMemory = true
    /// The size in bytes of the write buffer that all processes of the store share, 256 KB to 64 MB; 0 for no buffer.
    ///
    /// The process that opens the store alone decides the size, rounded down to a power of two. The file is larger than the
    /// buffer: 9.4 MB for 8 MB. At ``Durability/durable`` a store has no buffer. A temporary store has at most 256 KB.
    public var writeBuffer = 8 << 20
    /// Whether to leave the write buffer of an existing store unchanged, whatever its size, and to create no buffer.
    package var keepsWriteBuffer = false
    /// Whether to give an existing store the requested durability. No other process may have the store open.
    var changesDurability = false
    /// Whether commits are flushed to the disk; false only for temporary stores.
    package var flushes = true
    package var hooks = TestHooks()

    var isReadOnly: Bool { readOnly || allowsForeignOwner }

    /// Makes options. An omitted option has the default of its property.
    public init(
      create: Bool = true, readOnly: Bool = false, clock: any LarderClock = SystemClock(),
      lockTimeout: Duration = .seconds(10), limits: StoreLimits? = nil,
      allowsForeignOwner: Bool = false, durability: Durability? = nil,
      checkpointInterval: Duration = .milliseconds(200)
    ) {
      self.create = create
      self.readOnly = readOnly
      self.clock = clock
      self.lockTimeout = lockTimeout
      self.limits = limits
      self.allowsForeignOwner = allowsForeignOwner
      self.durability = durability
      self.checkpointInterval = checkpointInterval
    }
  }

  /// Opens the store in the directory `path`. If no store is there, creates a store that is private to the user.
  ///
  /// Takes a few milliseconds; the size of the store does not matter.
  ///
  /// - Throws: ``LarderError/Code/cannotOpen``, ``LarderError/Code/notFound``, ``LarderError/Code/foreign``,
  ///   ``LarderError/Code/newerFormat``, ``LarderError/Code/damaged``, ``LarderError/Code/needsRecovery``,
  ///   ``LarderError/Code/busy``, ``LarderError/Code/full``, ``LarderError/Code/invalidArgument``, and the errors of
  ///   ``declare(_:)``.
  public init(at path: String, options: Options = Options()) throws(LarderError) {
    engine = try StoreEngine.open(at: path, options: options)
    isReadOnly = options.isReadOnly
    engine.access.open(writable: !isReadOnly, in: engine.clock.coarseMinute)
    if !isReadOnly {
      engine.isWritable.store(true, ordering: .relaxed)
      // A killed process may have left records, which this process commits in time, like its own records.
      if engine.reader.buffer?.hasRecords == true, engine.scheduleSettling() {
        engine.settleInTime()
      }
      // A known declaration needs no transaction, which a full disk or another writer could prevent at each start of a program.
      if let limits = options.limits, try self.limits().declared != limits { try declare(limits) }
    }
  }

  /// A new store in the system's temporary directory, without flushes. ``close()`` or the last handle's release removes the files.
  public static func temporary(options: Options = Options()) throws(LarderError) -> Store {
    try temporary(in: FileManager.default.temporaryDirectory.path, options)
  }

  /// A new store in `/dev/shm`, the file system that Linux keeps in memory. ``close()`` or the last handle's release removes the
  /// files. The first call in a process also removes the files of killed processes. If `/dev/shm` does not exist or is not
  /// writable, the same as ``temporary(options:)``.
  public static func inMemory(options: Options = Options()) throws(LarderError) -> Store {
    removesAbandoned
    let hasMemory = FileManager.default.isWritableFile(atPath: memory)
    return try hasMemory ? temporary(in: memory, options) : temporary(options: options)
  }

  private static let memory = "/dev/shm"

  /// Removes the stores that killed processes have left in memory: until the machine restarts, nothing else removes these files.
  private static let removesAbandoned: Void = {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: memory)) ?? []
    where name.hasPrefix("larder-") && UUID(uuidString: String(name.dropFirst(7))) != nil {
      Environment.removeAbandoned(at: memory + "/" + name)
    }
  }()

  private static func temporary(in folder: String, _ options: Options) throws(LarderError) -> Store
  {
    let path = folder + "/larder-" + UUID().uuidString
    var options = options
    options.flushes = false
    // Many temporary stores may share a small file system in memory, so each gets a small buffer.
    options.writeBuffer = min(options.writeBuffer, 256 << 10)
    do throws(LarderError) {
      let store = try Store(at: path, options: options)
      store.engine.isTemporary.store(true, ordering: .relaxed)
      return store
    } catch {
      // On a full disk the error may leave the first files of the store, so these files are removed.
      try? FileManager.default.removeItem(atPath: path)
      throw error
    }
  }

  /// The directory of the store, with symbolic links resolved.
  public var path: String { engine.environment.path }

  /// The clock with which the store was opened.
  public var clock: any LarderClock { engine.clock.source }

  /// The current time of the store's clock.
  public var now: Timestamp { engine.clock.now }

  /// A view of the namespace `name`. The first write creates the namespace, or throws ``LarderError/Code/invalidArgument`` if
  /// the name is invalid.
  public func namespace(_ name: String) -> Store.Namespace {
    Store.Namespace(store: self, handle: engine.handle(for: name))
  }

  /// Closes the store in this process. Commits accepted writes, and the removals and counts that reads have left. Then waits
  /// for current reads, and for a write of another thread, for at most ``Options/lockTimeout`` each.
  ///
  /// After this call every call through any handle of this process throws ``LarderError/Code/closed``, except `close` itself.
  ///
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``. ``LarderError/Code/busy`` if a read or write does not end
  ///   in time; the store is closed nevertheless. ``LarderError/Code/failed``, only once, if a power failure would lose the
  ///   last writes.
  public func close() throws(LarderError) { try engine.close() }

  /// The durability of the store; ``Durability/scratch`` for a temporary store.
  public var durability: Durability { Durability(engine.environment.durability) }

  /// Flushes every write so far to the disk. These writes then survive a power failure at every ``durability``.
  ///
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``, whose changes are not committed yet.
  ///   ``LarderError/Code/failed`` if the disk does not accept the writes. Every process then gets this error, until all
  ///   processes have closed the store and a process opens the store again.
  public func sync() throws(LarderError) {
    try engine.checkNotWriting("syncing")
    try engine.settle()
    do throws(LMDBError) { try engine.environment.sync() } catch { throw engine.error(error) }
  }

  package func checkWritable() throws(LarderError) {
    if isReadOnly {
      throw LarderError(
        .readOnly, "\(path) was opened for reading only",
        hint: "open it without readOnly to change it")
    }
  }

  /// 16 random bytes for keyed digests; no other store has the same bytes.
  package var secret: [UInt8] { engine.identity }

  /// Distinguishes the opened store from other stores of this process.
  package var identity: ObjectIdentifier { ObjectIdentifier(engine) }

  /// A number for the state that a read sees now. While ``lastCommit`` is equal to this number, reads see the same state.
  package var snapshotNumber: UInt64 { get throws(LarderError) { try engine.beginRead().moment } }

  package var roundedUpTimes: (monotonic: Int64, wall: Int64) { engine.clock.roundedUpTimes }

  /// The table of `count` words in the file `shared`. This call does not map the file yet.
  package func sharedWords(layout: UInt32, count: Int) -> SharedTable {
    SharedTable(.shared, layout: layout, store: engine.identity, of: engine.environment) {
      $0 == count
    }
  }
}

extension StoreEngine {
  /// Removes the files of a temporary store. If this fails, the files stay until the system cleans its temporary directory.
  func removeFiles() { try? FileManager.default.removeItem(atPath: environment.path) }
}

/// Parts of the machine that tests replace, and sizes that tests make small.
package struct TestHooks: Sendable {
  /// The identity of the machine's last boot; nil for the real identity.
  package var boot: BootIdentity?
  /// The size in bytes above which every value is stored in chunks. If nil, only values that need chunks are stored in chunks.
  package var chunksAbove: Int?
  /// Runs a closure once, after a delay, on another thread.
  package var timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void =
    PendingAccesses.later
  /// The size of the ring of changes: a power of two, equal in every process. If nil, the size of the data file decides.
  package var changeSlots: Int?
  /// The machine's monotonic clock in milliseconds, for the leases of subscriptions and loads between processes.
  package var machineClock: @Sendable () -> Int64 = { SystemTime.monotonicMilliseconds }
  package var memoryPressure: @Sendable () -> MemoryPressure = { MemoryPressure.current() }
  /// A commit calls this closure after it has stored the records of the older log of the write buffer.
  package var besideCommit: @Sendable () -> Void = {}
  /// The free bytes on the file system of a path; nil if unknown.
  package var freeDisk: @Sendable (String) -> Int? = { FileStatus.freeSpace(at: $0) }
}
