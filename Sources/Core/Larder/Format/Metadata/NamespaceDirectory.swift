import LMDB
import LarderSystem
import Synchronization

/// A namespace as writes see it: its record, and the rules in force.
final class KnownNamespace: Sendable {
  /// Stands for a namespace that is not stored yet.
  static let new = KnownNamespace(NamespaceRecord(id: .store, created: 0), named: "")

  let name: String
  let record: NamespaceRecord
  let rules: Rules

  init(_ record: NamespaceRecord, named name: String) {
    self.name = name
    self.record = record
    rules = record.rules.effective
  }

  var id: NamespaceID { record.id }

  func isNamed(_ name: String) -> Bool { ExactString(self.name) == ExactString(name) }
}

/// The namespaces and settings that a batch uses; each is looked up once in a batch.
///
/// Committed ones are cached beyond the batch. A change of the batch itself is not cached: it may be rolled back.
final class NamespaceDirectory {
  private let transaction: StoreTransaction
  private let ledger: Ledger
  private let engine: StoreEngine
  private let now: Timestamp
  private var latest: KnownNamespace?
  private var others: [ExactString: KnownNamespace] = [:]

  init(_ transaction: StoreTransaction, _ ledger: Ledger, engine: StoreEngine, now: Timestamp) {
    self.transaction = transaction
    self.ledger = ledger
    self.engine = engine
    self.now = now
  }

  /// The namespace of that name; nil if it is absent.
  func find(_ name: String) throws(LarderError) -> KnownNamespace? {
    if let latest, latest.isNamed(name) { return latest }
    if let known = others[ExactString(name)] {
      remember(known)
      return known
    }
    let handle = engine.handle(for: name)
    let generation =
      ledger.hasCommittedGeneration ? ledger.store.generation : nil
    if let generation,
      let known = handle.known.withLock({ $0?.generation == generation ? $0?.namespace : nil })
    {
      remember(known)
      return known
    }
    guard let bytes = try transaction.copy(of: MetadataKey.namespace(name), in: .main)
    else {
      return nil
    }
    let namespace = KnownNamespace(
      try NamespaceRecord(bytes.span, name: name, seal: engine.seal), named: name)
    if let generation { handle.known.withLock { $0 = (generation, namespace) } }
    remember(namespace)
    return namespace
  }

  private func remember(_ namespace: KnownNamespace) {
    if let latest { others[ExactString(latest.name)] = latest }
    latest = namespace
  }

  /// The namespace of that name, which is made if it is absent.
  func findOrMake(_ name: String) throws(LarderError) -> KnownNamespace {
    if let namespace = try find(name) { return namespace }
    try NamespaceName.validate(name)
    let id = try newID()
    return try store(NamespaceRecord(id: id, created: now.milliseconds), named: name)
  }

  @discardableResult
  func store(_ record: NamespaceRecord, named name: String) throws(LarderError) -> KnownNamespace {
    let bytes = try record.record(name: name, seal: engine.seal)
    try transaction.put(bytes, for: MetadataKey.namespace(name), in: .main)
    let namespace = KnownNamespace(record, named: name)
    remember(namespace)
    ledger.updateStore { $0.generation &+= 1 }
    return namespace
  }

  /// Removes a name; the caller stores its record under another one.
  func remove(_ name: String) throws(LarderError) {
    try transaction.remove(MetadataKey.namespace(name), from: .main)
    if latest?.isNamed(name) == true { latest = nil }
    others[ExactString(name)] = nil
  }

  /// Takes the next id; its counters begin at 0.
  func newID() throws(LarderError) -> NamespaceID {
    let id = try nextID()
    ledger.updateStore { $0.nextID = UInt64(id.rawValue) + 1 }
    ledger.begin(id, with: NamespaceCounters(since: now, epoch: transaction.id))
    return id
  }

  /// The id of the next namespace that is made: no namespace has it, nor a cleared one whose entries are not reclaimed yet.
  func nextID() throws(LarderError) -> NamespaceID {
    var next = ledger.store.nextID
    for _ in 0..<NamespaceID.limit {
      let raw = (1..<UInt64(NamespaceID.limit)).contains(next) ? next : 1
      let id = NamespaceID(rawValue: UInt32(raw))
      if try !transaction.contains(MetadataKey.counters(id), in: .main) { return id }
      next = raw + 1
    }
    throw LarderError(
      .overLimit, "\(engine.environment.path) has no namespace id left",
      hint: "remove namespaces")
  }

  /// All names. O(namespaces).
  func names() throws(LarderError) -> [String] {
    let prefix = MetadataKey.namespaces
    return try transaction.keys(in: .main, from: prefix).map {
      String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
    }
  }

  /// The name of the namespace with that id; nil if it was cleared. O(namespaces).
  func name(of id: NamespaceID) throws(LarderError) -> String? {
    if let latest, latest.id == id { return latest.name }
    for name in try names()
    where try find(name)?.id == id {
      return name
    }
    return nil
  }

  // MARK: Settings of the store

  func settings() throws(LarderError) -> StoreSettings {
    let generation =
      ledger.hasCommittedGeneration ? ledger.store.generation : nil
    if let generation,
      let known = engine.settings.withLock({
        $0?.generation == generation ? $0?.settings : nil
      })
    {
      return known
    }
    var settings = StoreSettings()
    if let bytes = try transaction.copy(of: MetadataKey.settings, in: .main) {
      settings = try StoreSettings(bytes.span, seal: engine.seal)
    }
    if let generation { engine.settings.withLock { $0 = (generation, settings) } }
    return settings
  }

  func store(_ settings: StoreSettings) throws(LarderError) {
    try transaction.put(
      try settings.record(seal: engine.seal), for: MetadataKey.settings, in: .main)
    ledger.updateStore { $0.generation &+= 1 }
  }
}
