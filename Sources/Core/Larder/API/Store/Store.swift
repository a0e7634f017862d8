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
/// A store is a handle. Copies of it and further openings of the same path in this process share one environment. The
/// environment closes with its last handle or with ``close()``.
///
/// Without ``close()``, the last handle of a store writes the waiting access times, removals and counts of reads. So does the
/// end of the process, by `exit` or by returning from `main`, for stores that are still open, such as globals of `main.swift`;
/// it also removes temporary stores. Each of these writes waits for other writers for at most 100 ms, and reports no errors.
/// After an error only those access times, removals and counts are lost. Call ``close()`` to see errors.
public struct Store: Sendable {
  let engine: StoreEngine
  /// Whether every change through this handle throws ``LarderError/Code/readOnly``.
  public let isReadOnly: Bool

  /// Options for opening a store.
  public struct Options: Sendable {
    /// Whether to make a missing store; if false, the opening of a missing store throws ``LarderError/Code/notFound``.
    public var create = true
    /// Whether to refuse every change through this handle. A read-only handle never makes a store.
    public var readOnly = false
    /// The clock for expiry. All openings of a store in one process must use the same clock.
    public var clock: any LarderClock = SystemClock()
    /// How long a transaction waits for a writer of another process, or for one thread of this process whose write does not
    /// end, before it throws ``LarderError/Code/busy``. Reads of many keys may need a transaction, too.
    public var lockTimeout = Duration.seconds(10)
    /// The limits to declare for the whole store; nil changes no limit. See ``Store/declare(_:)``.
    ///
    /// A new store, unless temporary, has a default of ``StoreLimits/disk`` until a limit is declared;
    /// ``StoreLimits/unlimited`` removes this default.
    public var limits: StoreLimits?
    /// Whether to accept a store that belongs to another user; the handle is then read-only.
    public var allowsForeignOwner = false
    /// The durability of a new store, which the store keeps; nil means ``Durability/checkpointed``. If an existing store has
    /// another durability, opening throws ``LarderError/Code/invalidArgument``; nil accepts any durability.
    public var durability: Durability?
    /// The time from a write to its commit and, at ``Durability/checkpointed``, from a commit to its checkpoint: at most twice
    /// this interval together.
    public var checkpointInterval = Duration.milliseconds(200)
    /// Transforms of values on their way into the store and back, in this order: compression, then encryption. An entry without
    /// transforms is read as it is, unless a transform is required. All openings of a store in a process need equal transforms.
    public var transforms: [any ValueTransform] = []
    /// Whether decoded values are dropped while the system is short of memory: half of them at a warning, nine tenths if memory
    /// is critical. Asks the system at most once a second, when a value is kept. The first opening in a process decides.
    public var trimsMemory = true
    /// Bytes of the write buffer that all processes of the store share, 256 KB to 64 MB; 0 for no buffer.
    ///
    /// The process that opens the store while no other process has it open decides the size. The size is rounded down to a
    /// power of two, and the file is larger: 4.7 MB for 4 MB. A store of ``Durability/durable`` has no buffer, a temporary
    /// store at most 256 KB.
    public var writeBuffer = 4 << 20
    /// Whether the store keeps its present write buffer, of any size, or stays without a write buffer.
    package var keepsWriteBuffer = false
    /// Whether an existing store gets the requested durability; no other process may have the store open.
    var changesDurability = false
    /// Whether commits are flushed to the disk; off only for temporary stores.
    package var flushes = true
    package var hooks = TestHooks()

    /// Options. An option without a value has the default of its property.
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

  /// Opens the store in the directory `path`; makes a missing store, private to the user.
  ///
  /// Takes a few milliseconds, whatever the size of the store.
  ///
  /// - Throws: ``LarderError/Code/cannotOpen``, ``LarderError/Code/notFound``, ``LarderError/Code/foreign``,
  ///   ``LarderError/Code/newerFormat``, ``LarderError/Code/damaged``, ``LarderError/Code/needsRecovery``,
  ///   ``LarderError/Code/busy``, ``LarderError/Code/full``, ``LarderError/Code/invalidArgument``, or as ``declare(_:)``.
  public init(at path: String, options: Options = Options()) throws(LarderError) {
    engine = try StoreEngine.open(at: path, options: options)
    isReadOnly = options.readOnly || options.allowsForeignOwner
    engine.access.open(writable: !isReadOnly, in: engine.clock.coarseMinute)
    if !isReadOnly {
      engine.isWritable.store(true, ordering: .relaxed)
      if let limits = options.limits { try declare(limits) }
    }
  }

  /// A new store in the system's temporary directory, removed with its last handle. Its commits are not flushed to the disk.
  public static func temporary(options: Options = Options()) throws(LarderError) -> Store {
    try temporary(in: FileManager.default.temporaryDirectory.path, options)
  }

  /// A new store in memory, removed with its last handle: in `/dev/shm`, the file system that Linux keeps in memory. On a
  /// system without `/dev/shm` it is a store like that of ``temporary(options:)``.
  public static func inMemory(options: Options = Options()) throws(LarderError) -> Store {
    let memory = "/dev/shm"
    guard FileManager.default.isWritableFile(atPath: memory) else {
      return try temporary(options: options)
    }
    return try temporary(in: memory, options)
  }

  package static func temporary(
    in folder: String, _ options: Options = Options(), prefix: String = "larder-"
  ) throws(LarderError) -> Store {
    let path = folder + "/" + prefix + UUID().uuidString
    var options = options
    options.flushes = false
    // Many temporary stores may share a small file system in memory.
    options.writeBuffer = min(options.writeBuffer, 256 << 10)
    do throws(LarderError) {
      let store = try Store(at: path, options: options)
      store.engine.isTemporary.store(true, ordering: .relaxed)
      return store
    } catch {
      // On a full disk the first files may have been made.
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

  /// A view of the namespace `name`. The namespace is made by the first write, which throws
  /// ``LarderError/Code/invalidArgument`` for an impossible name.
  public func namespace(_ name: String) -> Store.Namespace {
    Store.Namespace(store: self, handle: engine.handle(for: name))
  }

  /// Ends this process's use of the store: commits accepted writes, writes waiting removals and counts. Then it waits for
  /// current reads, and for a write of another thread, at most for ``Options/lockTimeout`` each.
  ///
  /// Afterwards every call through any handle of this process throws ``LarderError/Code/closed``; another close does nothing.
  ///
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``. ``LarderError/Code/busy`` if a read or write goes on; the
  ///   store is closed all the same. ``LarderError/Code/failed``, once, if the last writes would not survive a power failure.
  public func close() throws(LarderError) {
    try engine.close()
  }

  /// The durability of the store; ``Durability/scratch`` for a temporary store.
  public var durability: Durability { Durability(engine.environment.durability) }

  /// Flushes every write so far to the disk, so that it survives a power failure, whatever the store's ``durability``.
  ///
  /// - Throws: ``LarderError/Code/insideWrite`` inside ``write(_:)``, whose changes are not committed yet.
  ///   ``LarderError/Code/failed`` if the disk does not take the writes. From then on every process gets this error, until all
  ///   processes have closed the store and a process opens it again.
  public func sync() throws(LarderError) {
    try engine.checkNotWriting("syncing")
    try engine.settle()
    do throws(LMDBError) { try engine.environment.sync() } catch { throw engine.error(error) }
  }

  func checkWritable() throws(LarderError) {
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

  /// The mark of the newest write that a read sees now. Later reads see the same state while ``lastCommit`` is this mark.
  package var snapshotNumber: UInt64 {
    get throws(LarderError) {
      let stamp = engine.reader.buffer?.state.stamp ?? 0
      return try engine.beginRead().id &+ stamp
    }
  }

  package var roundedUpTimes: (monotonic: Int64, wall: Int64) { engine.clock.roundedUpTimes }

  /// The words of the file `shared`; the file is not mapped yet.
  package func sharedWords(layout: UInt32, count: Int) -> SharedTable {
    SharedTable(
      SharedTable.Format(file: .shared, layout: layout, store: engine.identity) { $0 == count },
      of: engine.environment)
  }
}
