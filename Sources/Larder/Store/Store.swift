import LMDB
package import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A cache on disk that any number of processes share: an application, its helpers, the shell.
///
/// A store is a handle; copies of it and further openings of the same path in this process share one environment, which
/// closes when the last of them goes or ``close()`` is called.
///
/// The last handle of a store that was not closed writes what waits, as ``close()`` does: counts of reads, and removals
/// that reads asked for. It can tell nobody how that went, so it waits for other writers for at most 100 ms and gives up
/// on any error; then the counts of those reads are lost, and nothing else.
public struct Store: Sendable {
  let engine: StoreEngine
  /// Whether every change is refused.
  public let isReadOnly: Bool

  /// How a store is opened.
  public struct Options: Sendable {
    /// Make the store if there is none; otherwise an absent store is an error.
    public var create = true
    /// Refuse every change made through this handle.
    public var readOnly = false
    public var clock: any LarderClock = SystemClock()
    /// How long a write waits for a writer in another process before it fails as busy.
    public var lockTimeout = Duration.seconds(10)
    /// Limits to declare for the store as a whole; nil leaves those it has. See ``Store/declare(_:)``.
    public var limits: StoreLimits?
    /// Accept a store that belongs to another user; it is then read-only.
    public var allowsForeignOwner = false
    /// What a power cut may cost, for a new store; the store keeps it. A store that is there must have the one asked for;
    /// nil takes what it has, and makes a new one ``Durability/grouped``.
    public var durability: Durability?
    /// How long after a commit a ``Durability/grouped`` store makes it safe from a power cut.
    public var checkpointInterval = Duration.milliseconds(200)
    /// The store gets the durability asked for; nobody else may have it open.
    var changesDurability = false
    /// Stands in for the machine's own start, to try what a restart does.
    package var boot: BootIdentity?
    /// Values above this many bytes are stored in chunks; nil for none.
    package var chunksAbove: Int?
    /// Runs something once, after a while, on another thread.
    var timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = StoreEngine.later
    /// How many changes the ring holds; the same in every process.
    var changeSlots = ChangeRing.usualSlots
    /// The machine's monotonic clock in milliseconds, by which processes believe each other that they watch.
    var machineClock: @Sendable () -> Int64 = { SystemTime.monotonicMilliseconds }
    /// Whether commits are put on the disk; only what is thrown away anyway can do without.
    package var flushes = true

    public init() {}
  }

  /// Opens the store in the directory `path`, making it, private to the user, if there is none.
  ///
  /// Opening takes a few milliseconds whatever the store's size. Errors say what is wrong with the place: see
  /// ``LarderError/Code``.
  public init(at path: String, options: Options = Options()) throws(LarderError) {
    engine = try StoreEngine.open(at: path, options: options)
    isReadOnly = options.readOnly || options.allowsForeignOwner
    engine.access.open(writable: !isReadOnly, in: engine.coarseMinute)
    if !isReadOnly {
      engine.isWritable.store(true, ordering: .relaxed)
      if let limits = options.limits { try declare(limits) }
    }
  }

  /// A new store in the system's directory for temporary files, removed when its last handle goes. Its commits are not
  /// put on the disk.
  public static func temporary(options: Options = Options()) throws(LarderError) -> Store {
    let name = "larder-" + UUID().uuidString
    var options = options
    options.flushes = false
    let store = try Store(
      at: FileManager.default.temporaryDirectory.path + "/" + name, options: options)
    store.engine.isTemporary.store(true, ordering: .relaxed)
    return store
  }

  /// A new temporary store with a clock of its own, for tests.
  public static func temporary(clock: any LarderClock) throws(LarderError) -> Store {
    var options = Options()
    options.clock = clock
    return try temporary(options: options)
  }

  /// The store's directory, with links resolved.
  public var path: String { engine.environment.path }

  /// The clock that the store was opened with.
  public var clock: any LarderClock { engine.clock }

  /// The time by the store's clock.
  public var now: Timestamp { engine.clock.now }

  /// A view of a part of the store; nothing is made until the first write.
  public func namespace(_ name: String) -> Store.Namespace {
    Store.Namespace(store: self, handle: engine.handle(for: name))
  }

  /// Ends this process's use of the store: writes that were accepted, removals and counts that wait are written, reads under
  /// way are waited for. Inside ``write(_:)`` it throws ``LarderError/Code/insideWrite``.
  ///
  /// Afterwards every call throws ``LarderError/Code/closed``, through other handles of this process too.
  public func close() throws(LarderError) {
    try engine.close()
  }

  /// What a power cut may cost; a temporary store says scratch.
  public var durability: Durability { Durability(engine.environment.durability) }

  /// Makes everything written so far survive a power cut, whatever the store's ``durability``.
  ///
  /// Inside ``write(_:)`` it throws ``LarderError/Code/insideWrite``: what that writes is not there yet.
  public func sync() throws(LarderError) {
    try engine.checkNotWriting("syncing")
    do throws(LMDBError) { try engine.environment.sync() } catch { throw engine.error(error) }
  }

  func checkWritable() throws(LarderError) {
    if isReadOnly {
      throw LarderError(
        .readOnly, "\(path) was opened for reading only",
        hint: "open it without readOnly to change it")
    }
  }
}
