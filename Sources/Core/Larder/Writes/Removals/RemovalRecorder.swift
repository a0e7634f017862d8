/// Records what a batch removes, for loads that began before.
///
/// An eviction and an expiry are no removals here: a load may store its value after them.
struct RemovalRecorder {
  private let table: RemovalTable
  /// The number of the batch among the removals; nil as long as it removes nothing.
  private(set) var number: UInt64?

  init(_ table: RemovalTable) { self.table = table }

  /// Records the removal of everything with that hash, whether or not something is stored.
  mutating func record(_ hash: UInt64) {
    if number == nil { number = table.begin() }
    if let number { table.record(hash, number) }
  }

  /// Whether nothing with one of the hashes was removed after that moment, by this batch or before it.
  func isNewest(_ moment: RemovalTable.Mark, of hashes: [UInt64]) -> Bool {
    guard table.open() else { return false }
    table.settle(before: number)
    if moment.isKnown, table.isNewest(moment, of: hashes) { return true }
    table.mend(hashes)
    return false
  }
}

extension WriteBatch {
  /// Keeps loads that began before this batch from storing their values in a namespace; nil means in any.
  package mutating func refuseEarlierLoads(in namespace: Store.Namespace?) {
    let hash = namespace.map { RemovalTable.hash(ofNamespace: $0.name) }
    session.removals.record(hash ?? RemovalTable.hashOfStore)
  }
}

extension RemovalReason {
  /// Whether a caller has removed the entry.
  var isRemoval: Bool {
    switch self {
    case .removed, .invalidated, .orphaned: true
    default: false
    }
  }
}
