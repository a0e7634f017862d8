public import Larder

/// The state of a store's copies of values of the tier, readable without a connection to the tier.
public struct SharedStatus: Sendable {
  /// The application whose data the store has; nil before the first contact with the tier.
  public var application: String?
  /// Whether every change that was made up to two seconds ago, on any machine, was applied here.
  public var isConfirmed: Bool
  /// The process that reads the log for this store; nil if no process reads the log.
  public var reader: Int32?
  /// The position of the last change that was applied; nil before the first contact.
  public var applied: Position?
  /// The newest position that was seen, at most half a second old while the log is read.
  public var head: Position?
  /// The time between the last applied change and the newest seen change.
  public var behind: Duration
  /// How many times the store has begun with a history of the log: at the first contact, and again after each loss of records.
  public var epoch: UInt64
  /// The number of removals that wait for the tier.
  public var waitingRemovals: Int
  /// The namespaces that have copies of the tier.
  public var namespaces: [String]
}

extension SharedStatus {
  /// The status of a store; nil if the store has no records about a shared tier.
  public init?(of store: Store) throws(LarderError) {
    let state = LocalState(store)
    let outbox = Outbox(store, state)
    let (progress, namespaces) = (try state.progress(), try state.namespaces())
    waitingRemovals = try outbox.count()
    if progress == nil, namespaces.isEmpty, waitingRemovals == 0 { return nil }
    let recent = RecentChanges(store, of: nil)
    application = progress?.application
    epoch = progress?.epoch ?? 0
    isConfirmed = recent.standing(at: store.roundedUpTimes, limit: .zero) == .confirmed
    reader = recent.reader(at: store.clock.monotonic)
    let (applied, head) = (max(recent.applied, progress?.position ?? .zero), recent.head)
    self.applied = applied == .zero ? nil : applied
    self.head = head == .zero ? nil : max(head, applied)
    behind =
      head > applied
      ? .milliseconds(Int64(clamping: head.milliseconds - applied.milliseconds)) : .zero
    self.namespaces = namespaces
  }
}
