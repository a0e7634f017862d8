import LMDB
import LarderSystem

/// A moment between the writes of a store: for each namespace, the version that its next value will get.
///
/// A value written later has that version or a higher one, even if its namespace was cleared meanwhile.
package struct WriteHorizon: Sendable {
  private let next: [ExactString: UInt64]

  /// The horizon right now, after every write so far.
  package init(of store: Store) throws(LarderError) {
    let namespaces = try store.engine.metadata.namespaces(in: store.engine.beginRead())
    next = Dictionary(
      namespaces.map { (ExactString($0.facts.name), $0.counters.next) }, uniquingKeysWith: min)
  }

  /// The first version in a namespace that was written later. A namespace without values at the horizon has no earlier version.
  func first(in namespace: String) -> UInt64 { next[ExactString(namespace)] ?? 0 }

  /// Whether the value of an entry was written before the horizon.
  package func covers(_ entry: Store.Entry) -> Bool {
    entry.version < first(in: entry.namespace)
  }
}

extension WriteBatch {
  /// Empties a namespace like ``clear(_:)``. Nil, without a change, if a value was written into it after the horizon.
  package mutating func clear(
    _ namespace: Store.Namespace, asOf horizon: WriteHorizon
  ) throws(LarderError) -> RemovalResult? {
    let name = namespace.name
    session.removals.record(RemovalTable.hash(ofNamespace: name))
    guard let id = try session.namespace(name)?.id else {
      return RemovalResult()
    }
    guard
      try session.counters(of: id).next
        == horizon.first(in: name)
    else { return nil }
    return try clear(namespace)
  }
}
