/// A committed change of an entry or a namespace. This process or another process has made the change.
public struct Change: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// A value was stored.
    case set
    /// The expiration or pin of the entry changed, but not its value.
    case touched
    /// The entry was removed for this reason.
    case removed(RemovalReason)
    /// All entries of the namespace were removed in one step.
    case cleared
    /// The namespace has a new name.
    case renamed(to: String)
    /// This number of changes, in any namespaces, was not delivered; nil if the number is unknown.
    ///
    /// A program with a copy of the store's contents must read the contents again. No change after this element is missing.
    case missed(Int?)
    /// The files were deleted, replaced, made read-only or restored, or this process stopped after damage or a failed sync.
    case health(StoreHealth)
    /// The subscription failed with this error and has ended.
    case ended(LarderError)
  }

  /// The kind of the change.
  public var kind: Kind
  /// The name of the namespace at the change, empty if the record of the namespace is damaged. Nil for ``Kind/missed(_:)``,
  /// ``Kind/ended(_:)`` and ``Kind/health(_:)``.
  public var namespace: String?
  /// The key, or the first 64 bytes of a longer key; nil if the change does not concern a single entry.
  public var key: Key?
  /// Whether the key has more bytes than ``key``.
  public var isKeyCut = false
  /// The size of the value before the change, or of all values of a cleared namespace. Nil for no value or a damaged record.
  public var sizeBefore: Int?
  /// The bytes of the value after the change; nil if there is no value.
  public var sizeAfter: Int?
  /// The expiry of a set or touched entry after the change. Nil if the entry never expires, and for other changes.
  package var expires: Timestamp?
  /// The time when the commit of the change began, by the clock of its store.
  public var time: Timestamp?
  /// The number of the commit that made the change visible.
  public var transaction: UInt64?
  /// The id of the process that committed the change. Another process may have written the entry into the write buffer.
  public var process: Int?

  static let longestKey = 64

  init(_ kind: Kind) { self.kind = kind }

  /// The reason of a removal; nil for other changes.
  package var reason: RemovalReason? { if case .removed(let reason) = kind { reason } else { nil } }
}

/// The changes of a store, in the order in which processes commit them; see ``Store/changes(in:)``.
///
/// All loops over the sequence share one subscription and its position. When the first loop ends, the subscription ends for all
/// loops. After an error the last element is ``Change/Kind/ended(_:)``.
public struct Changes: AsyncSequence, Sendable {
  let subscription: Subscription

  /// Makes an iterator, which continues at the current position of the subscription.
  public func makeAsyncIterator() -> Iterator { Iterator(loop: Loop(subscription: subscription)) }

  /// Waits for changes and returns them one after another.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let loop: Loop

    /// The next change if one is available; does not wait.
    package func nextNow() -> Change? { loop.subscription.nextNow() }

    /// The next change. Nil if the subscription has ended, the store is closed or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
      await loop.subscription.next()
    }
  }

  fileprivate final class Loop: Sendable {
    let subscription: Subscription
    init(subscription: Subscription) { self.subscription = subscription }
    deinit { subscription.end() }
  }
}

extension Store {
  /// Every change that any process commits after this call, in the order of the commits:
  ///
  ///     for await change in store.changes(in: "weather") { print(change.kind, change.key as Any) }
  ///
  /// Changes of a failed batch are not delivered, nor those of a batch that began without a subscription and whose process was
  /// killed during its commit. A file holds the newest 1,024 to 65,536 changes, depending on the size of the store. Writers never
  /// wait for readers. If changes are overwritten before a slow subscription reads them, the subscription gets one
  /// ``Change/Kind/missed(_:)`` and then the later changes. Changes of other processes arrive within 50 ms, usually within 20 ms.
  ///
  /// The subscription begins with this call and keeps no read transaction open. The subscription ends when the loop ends, the
  /// task is cancelled or the store is closed. After the last subscription has ended, writers stop publishing; if the
  /// subscribed process is killed, they stop within ten seconds. The first subscription of a store makes the file and a small
  /// commit. The file has 1/16 of the bytes of the data file, at least 274 kB and at most 18 MB, and grows with the data file.
  /// If the first subscription cannot make the file, ``Change/Kind/ended(_:)`` is the only element.
  ///
  /// During a subscription the process checks ``Store/health()`` each second, and ``Change/Kind/health(_:)`` reports changes.
  ///
  /// - Parameter namespace: the namespace whose changes are delivered, with those of damaged namespaces; nil for all namespaces.
  public func changes(in namespace: String? = nil) -> Changes {
    Changes(subscription: Subscription(self, only: namespace))
  }
}

extension Store.Namespace {
  /// The changes of this namespace; see ``Store/changes(in:)``.
  public func changes() -> Changes { store.changes(in: name) }
}
