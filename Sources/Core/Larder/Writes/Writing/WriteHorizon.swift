import LarderSystem

/// A moment between writes: for each namespace, the version of its next value. Later versions are higher, even after a clear.
package struct WriteHorizon: Sendable {
  private let next: [ExactString: UInt64]

  package init(of store: Store) throws(LarderError) {
    let namespaces = try store.engine.metadata.namespaces(in: store.engine.beginRead())
    next = Dictionary(
      namespaces.map { (ExactString($0.facts.name), $0.counters.next) }, uniquingKeysWith: min)
  }

  /// The least version of values that are written after the horizon; 0 if the namespace did not exist at the horizon.
  func first(in namespace: String) -> UInt64 { next[ExactString(namespace)] ?? 0 }

  package func covers(_ entry: Store.Entry) -> Bool { entry.version < first(in: entry.namespace) }
}
