/// The changes of a store as they are committed, by this process and others; see ``Store/changes(in:)``.
///
/// It is one watch: whoever iterates it goes on where it is, and it is over when a loop over it is left.
public struct Changes: AsyncSequence, Sendable {
  public typealias Element = Change
  public typealias Failure = Never

  let watch: Subscription

  public func makeAsyncIterator() -> Iterator { Iterator(watch) }

  public struct Iterator: AsyncIteratorProtocol {
    private let loop: Loop

    init(_ watch: Subscription) { loop = Loop(watch: watch) }

    /// The next change; nil when the task was cancelled or the store closed.
    public mutating func next() async -> Change? { await loop.watch.next() }

    /// The next change, if there is one by now: for who waits in a way of their own.
    package func nextNow() -> Change? { loop.watch.nextNow() }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
      await loop.watch.next()
    }
  }

  /// Ends the watch when the loop is left.
  private final class Loop: Sendable {
    let watch: Subscription
    init(watch: Subscription) { self.watch = watch }
    deinit { watch.end() }
  }
}

extension Store {
  /// Every change that is committed from now on, in the order of the commits, by this process and others:
  ///
  ///     for await change in store.changes(in: "weather") { print(change.kind, change.key as Any) }
  ///
  /// Only changes of the namespace of that name are shown; nil shows all. Nothing of a batch that failed is. While
  /// somebody watches, writers put their changes into a file that holds the newest 65,536; nothing makes them wait. A
  /// watcher that is further behind than that gets one ``Change/Kind/missed(_:)`` and then what comes after. Changes
  /// of other processes arrive within 50 ms, 20 ms as a rule.
  ///
  /// The watch begins with this call and keeps no read transaction open. It ends when the loop is left, the task
  /// cancelled or the store closed; then writers stop publishing, as they do ten seconds after a watching process was
  /// killed. The first watch of a store makes the file, of 17 MB, and one small commit; where that cannot be done the
  /// only element is ``Change/Kind/ended(_:)``.
  public func changes(in namespace: String? = nil) -> Changes {
    Changes(watch: Subscription(self, only: namespace))
  }
}

extension Store.Namespace {
  /// The changes of this namespace; see ``Store/changes(in:)``.
  public func changes() -> Changes { store.changes(in: name) }
}
