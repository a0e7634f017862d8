import LarderSystem

/// A committed change of an entry or a namespace, by this process or another.
public struct Change: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// A value was stored.
    case set
    /// The entry got another expiration or pin, without its value being written.
    case touched
    /// The entry was removed, for this reason.
    case removed(RemovalReason)
    /// Every entry of the namespace was removed at once.
    case cleared
    /// The namespace has a new name.
    case renamed(to: String)
    /// This many changes of any namespaces were not delivered; nil if the number is unknown.
    ///
    /// A copy of the store must be read again. No later change is missing.
    case missed(Int?)
    /// Another program deleted or replaced the store's files, made them read-only, or restored them.
    case health(StoreHealth)
    /// The subscription failed with this error, and has ended.
    case ended(LarderError)
  }

  /// The kind of the change.
  public var kind: Kind
  /// The name of the namespace at that time; nil for ``Kind/missed(_:)``, ``Kind/ended(_:)`` and ``Kind/health(_:)``.
  public var namespace: String?
  /// The key, or its first 64 bytes; nil unless an entry changed.
  public var key: Key?
  /// Whether the key has more bytes than ``key``.
  public var isKeyCut = false
  /// Bytes of the value before the change, or of all values of a cleared namespace; nil if there was none, or the record
  /// was damaged.
  public var sizeBefore: Int?
  /// Bytes of the value after the change; nil if no value is left.
  public var sizeAfter: Int?
  /// When the entry expires after it was set or touched; nil for never, and for other changes.
  package var expires: Timestamp?
  /// When the batch of the change began, by the clock of its store.
  public var time: Timestamp?
  /// The number of the commit that made the change visible.
  public var transaction: UInt64?
  /// The process that made the change.
  public var process: Int?

  /// The most bytes of a key that a change carries.
  static let longestKey = 64

  init(_ kind: Kind) { self.kind = kind }

  /// Why the entry was removed; nil for other changes.
  package var reason: RemovalReason? {
    if case .removed(let reason) = kind { reason } else { nil }
  }
}

/// The changes of a store as they are committed by any process; see ``Store/changes(in:)``.
///
/// All loops over it share one subscription and its position. The first loop that ends also ends the subscription. An error
/// ends the sequence as a last element, ``Change/Kind/ended(_:)``.
public struct Changes: AsyncSequence, Sendable {
  let subscription: Subscription

  /// Continues at the position of the subscription.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription) }

  /// Waits for changes and returns them one by one.
  public struct Iterator: AsyncIteratorProtocol {
    private let loop: Loop

    init(_ subscription: Subscription) { loop = Loop(subscription: subscription) }

    /// The next change if there is one already, without waiting.
    package func nextNow() -> Change? { loop.subscription.nextNow() }

    /// The next change; nil when the task is cancelled or the store closed.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
      await loop.subscription.next()
    }
  }

  /// Ends the subscription when the loop is left.
  private final class Loop: Sendable {
    let subscription: Subscription
    init(subscription: Subscription) { self.subscription = subscription }
    deinit { subscription.end() }
  }
}

extension Store {
  /// Every change that is committed from now on, in the order of the commits, by this process and others:
  ///
  ///     for await change in store.changes(in: "weather") { print(change.kind, change.key as Any) }
  ///
  /// Changes of a batch that failed are not delivered. Writers publish their changes in a file that holds the newest 1,024 to
  /// 65,536, more in a larger store. They never wait for readers: a subscription that falls further behind gets one
  /// ``Change/Kind/missed(_:)`` and then the changes after it. Changes of other processes arrive within 50 ms, usually within
  /// 20 ms.
  ///
  /// The subscription begins with this call and keeps no read transaction open. It ends when the loop is left, the task is
  /// cancelled or the store is closed. Writers then stop publishing; after a kill of the subscribed process they stop within
  /// ten seconds. The first subscription of a store makes the file and one small commit. The file has 1/16 of the bytes of the
  /// data file, at least 256 kB and at most 17 MB, and grows with it. If the first subscription cannot make it,
  /// ``Change/Kind/ended(_:)`` is the only element.
  ///
  /// While there is a subscription, the store's files are checked every second: ``Change/Kind/health(_:)`` reports each change
  /// of the result of ``Store/health()``.
  ///
  /// - Parameter namespace: delivers changes of this namespace only; nil delivers all.
  public func changes(in namespace: String? = nil) -> Changes {
    Changes(subscription: Subscription(self, only: namespace))
  }
}

extension Store.Namespace {
  /// The changes of this namespace; see ``Store/changes(in:)``.
  public func changes() -> Changes { store.changes(in: name) }
}
