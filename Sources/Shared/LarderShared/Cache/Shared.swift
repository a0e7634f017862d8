public import Larder
import LarderSystem
import Synchronization

/// A tier, such as a Redis server, which the stores of an application's machines ask before they ask the origin.
///
///     let shared = try Shared(RedisSender(host: "redis.example"), application: "shop")
///     let prices = store.cache(of: Price.self, in: "prices", shared: shared)
///     let price = try await prices.value(for: sku) { try await api.price(sku) }
///
/// Make one object for a process and keep it. For each store with a ``SharedCache`` the object has a task that reads the log of
/// changes, unless another process reads the log for this store. The task ends when the last reference to the object is released,
/// or when the store is closed. A store belongs to one application.
public final class Shared: Sendable {
  /// The data that the machines share.
  public let tier: any SharedTier
  /// The settings for the use of the tier.
  public let options: SharedOptions
  let limiter: LoadLimiter
  let breaker = Breaker()
  private let counts = Counts()
  private let attachments = Mutex<[Opening: Attachment]>([:])

  /// A tier in a Redis or Valkey server.
  ///
  /// - Parameter application: the name that separates this data from the data of other applications in the same server.
  /// - Throws: `LarderError/Code/invalidArgument` if the name is not 1 to 100 letters, digits, hyphens, underscores and dots.
  public convenience init(
    _ sender: any CommandSender, application: String, options: SharedOptions = SharedOptions()
  ) throws(LarderError) {
    self.init(try StreamTier(sender, application: application, options: options), options: options)
  }

  /// A tier of another kind, such as a tier in memory for tests.
  public init(_ tier: any SharedTier, options: SharedOptions = SharedOptions()) {
    self.tier = tier
    self.options = options.possible
    limiter = LoadLimiter(self.options.maxLoads)
  }

  deinit {
    attachments.withLock { attachments in
      for attachment in attachments.values { attachment.reading?.cancel() }
    }
  }

  /// The counts of this process's use of the tier.
  public struct Statistics: Hashable, Sendable {
    /// Values taken from the tier.
    public var hits = 0
    /// Requests that got a lease because the tier had no value that could be used.
    public var misses = 0
    /// Values that failed their checks, or that the cache's codec could not decode. Such values also count as misses.
    public var damaged = 0
    /// Values in a layout that is newer than this version of Larder.
    public var newer = 0
    /// Leases that were granted.
    public var leases = 0
    /// Times that a caller paused because another machine loaded the value.
    public var waits = 0
    /// Loaded values that the tier refused: their key was changed or removed during the load, or their lease had ended.
    public var overtaken = 0
    /// Loads without the tier: the tier failed, removals waited for it, or a key changed too often or took too long to load.
    public var withoutTier = 0
    /// Copies that reads returned although this machine may have missed changes.
    public var unconfirmed = 0
    /// Records of the log that this process applied for its stores.
    public var records = 0
    /// Copies that records of the log removed by key or namespace. Copies that were removed by a tag do not count.
    public var superseded = 0
    /// Times that the store dropped its copies: the log had another history, or lacked records that the store had not read.
    public var gaps = 0
    /// Removals that waited in a store and were sent later.
    public var sent = 0
    /// Times that reading or applying the log failed. After a failure the copies are unconfirmed until the log is applied again.
    public var failures = 0
    /// The reason of the last failure in ``failures``.
    public var lastFailure: String?
    /// Times that this process did not ask the tier for a while, because the tier had failed repeatedly.
    public var pauses = 0
  }

  /// The counts since this object was made.
  public var statistics: Statistics {
    var statistics = counts.values.withLock { $0 }
    statistics.pauses = breaker.openings
    return statistics
  }

  func count(_ change: (inout Statistics) -> Void) { counts.values.withLock { change(&$0) } }

  /// The copies of a store. The first call starts a task that reads the log, but not for a read-only store.
  func copies(of store: Store) -> LocalCopies {
    let opening = Opening(store: store.identity, isReadOnly: store.isReadOnly)
    return attachments.withLock { attachments in
      if let attachment = attachments[opening] { return attachment.copies }
      attachments = attachments.filter { !$0.value.copies.store.isClosed }
      let copies = LocalCopies(store, of: tier.application)
      let reader = LogReader(
        tier: tier, copies: copies, options: options, breaker: breaker,
        count: { [counts] change in counts.values.withLock { change(&$0) } })
      // A task that is not detached would keep the task-local values of the first caller, such as a request, until its end.
      attachments[opening] = (copies, store.isReadOnly ? nil : Task.detached { await reader.run() })
      return copies
    }
  }

  /// The counts, in an object that outlives ``Shared``, because tasks that are about to end still count.
  private final class Counts: Sendable { let values = Mutex(Statistics()) }

  /// All handles of a store that may write, or all handles that may not. A read-only handle cannot apply the log.
  private struct Opening: Hashable {
    let store: ObjectIdentifier
    let isReadOnly: Bool
  }

  /// The copies of a store, and the task that reads the log for them.
  private typealias Attachment = (copies: LocalCopies, reading: Task<Void, Never>?)
}
