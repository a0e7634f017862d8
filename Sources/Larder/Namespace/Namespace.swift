import LMDB
import LarderSystem

extension Store {
  /// A named part of a store with rules of its own.
  ///
  /// It is a view: making one changes nothing in the store, and it stays valid when any process clears, renames or removes
  /// the namespace. A namespace begins to exist with its first write or declaration.
  ///
  /// A name is 1 to 100 bytes without white space, `@` and control characters. With an invalid name or key
  /// (``StoreKey``), reads find nothing and writes throw ``LarderError/Code/invalidArgument``.
  public struct Namespace: Sendable {
    /// The store it is part of.
    public let store: Store
    let handle: NamespaceHandle

    /// The namespace's name.
    public var name: String { handle.name }

    var engine: StoreEngine { store.engine }

    /// The most bytes a name may have.
    public static let longestName = 100

    /// Throws unless `name` is a possible name.
    static func validate(_ name: String) throws(LarderError) {
      let isPossible =
        !name.isEmpty && name.utf8.count <= longestName
        && name.unicodeScalars.allSatisfy { scalar in
          !scalar.properties.isWhitespace && scalar != "@"
            && scalar.properties.generalCategory != .control
        }
      if !isPossible {
        throw LarderError(
          .invalidArgument, "\"\(name)\" cannot name a namespace",
          hint: "use 1 to \(longestName) bytes without spaces, @ and control characters")
      }
    }
  }
}

extension Store.Namespace {
  /// The namespace's size and rules; nil if it does not exist. O(log namespaces).
  public func info() throws(LarderError) -> NamespaceInfo? {
    try engine.settle(store)
    let transaction = try engine.beginRead()
    guard let record = try engine.metadata.record(named: name, in: transaction) else { return nil }
    return try engine.metadata.facts(of: record, name: name, in: transaction).facts
  }

  /// The namespace's size, reads and removals; nil if it does not exist. O(log namespaces).
  public func statistics() throws(LarderError) -> Statistics.Namespace? {
    try engine.settle(store)
    let transaction = try engine.beginRead()
    guard let record = try engine.metadata.record(named: name, in: transaction) else { return nil }
    return Statistics.Namespace(
      try engine.metadata.facts(of: record, name: name, in: transaction), unmerged: handle,
      at: transaction.id, memory: engine.memory.statistics[name])
  }
}

extension Store.Namespace {
  /// The namespace's number, which ``TransformContext/namespace`` has; nil if it does not exist.
  package func number() throws(LarderError) -> UInt32? {
    let id = try engine.reader.identify(handle, in: engine.beginRead())
    return id == .store ? nil : id.rawValue
  }
}
