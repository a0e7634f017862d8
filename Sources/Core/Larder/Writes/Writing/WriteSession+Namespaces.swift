import LMDB
import LarderSystem
import Synchronization

/// Committed namespaces and settings are cached for later batches, but not changes of the batch, which may be rolled back.
extension WriteSession {
  mutating func namespace(_ name: String) throws(LarderError) -> KnownNamespace? {
    if let found = known.find(ExactString(name)) { return found }
    let handle = engine.handle(for: name)
    let generation = ledger.hasCommittedGeneration ? ledger.store.generation : nil
    if let generation,
      let found = handle.known.withLock({ $0?.generation == generation ? $0?.namespace : nil })
    {
      known.set(ExactString(name), to: found)
      return found
    }
    guard let bytes = try transaction.copy(of: MetadataKey.namespace(name), in: .main)
    else { return nil }
    let record = try NamespaceRecord(bytes.span, name: name, seal: engine.seal)
    let namespace = KnownNamespace(record, named: name, saved: bytes)
    if let generation { handle.known.withLock { $0 = (generation, namespace) } }
    known.set(ExactString(name), to: namespace)
    return namespace
  }

  mutating func namespaceOrNew(_ name: String) throws(LarderError) -> KnownNamespace {
    if let namespace = try namespace(name) { return namespace }
    try NamespaceName.validate(name)
    return try store(NamespaceRecord(id: newID(), created: now.milliseconds), named: name)
  }

  @discardableResult
  mutating func store(_ record: NamespaceRecord, named name: String) throws(LarderError)
    -> KnownNamespace
  {
    let bytes = try record.record(name: name, seal: engine.seal)
    try transaction.put(bytes, for: MetadataKey.namespace(name), in: .main)
    let namespace = KnownNamespace(record, named: name, saved: bytes)
    known.set(ExactString(name), to: namespace)
    ledger.updateStore { $0.generation &+= 1 }
    return namespace
  }

  mutating func newID() throws(LarderError) -> NamespaceID {
    let id = try nextID()
    ledger.updateStore { $0.nextID = UInt64(id.rawValue) + 1 }
    ledger.begin(id, with: NamespaceCounters(since: now, epoch: transaction.id))
    return id
  }

  /// The id for the next new namespace. Neither a namespace nor a stored entry of a cleared namespace uses this id.
  mutating func nextID() throws(LarderError) -> NamespaceID {
    var next = ledger.store.nextID
    for _ in 0..<NamespaceID.limit {
      let raw = (1..<UInt64(NamespaceID.limit)).contains(next) ? next : 1
      let id = NamespaceID(rawValue: UInt32(raw))
      if try !transaction.contains(MetadataKey.counters(id), in: .main),
        try !transaction.contains(MetadataKey.garbage(id), in: .main)
      {
        return id
      }
      next = raw + 1
    }
    throw LarderError(
      .overLimit, "\(engine.environment.path) has no namespace id left",
      hint: "move entries to a new store, and use fewer namespaces there")
  }

  mutating func namespaceNames() throws(LarderError) -> [String] {
    let prefix = MetadataKey.namespaces
    return try transaction.keys(in: .main, from: prefix).map {
      String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
    }
  }

  /// The namespace with the id. Nil if that namespace was cleared or removed. Throws ``LarderError/Code/damaged`` if no undamaged
  /// namespace has the id, and another namespace is damaged. O(namespaces).
  mutating func namespace(of id: NamespaceID) throws(LarderError) -> KnownNamespace? {
    if let last = known.last, last.id == id { return last }
    if let listed = try namespaces().first(where: { $0.id == id }) {
      return try namespace(listed.name)
    }
    // The list lacks damaged namespaces.
    for name in try namespaceNames() {
      if let found = try namespace(name), found.id == id { return found }
    }
    return nil
  }

  mutating func settings() throws(LarderError) -> StoreSettings {
    let generation = ledger.hasCommittedGeneration ? ledger.store.generation : nil
    if let generation,
      let known = engine.writes.settings.withLock({
        $0?.generation == generation ? $0?.settings : nil
      })
    {
      return known
    }
    let bytes = try transaction.copy(of: MetadataKey.settings, in: .main) ?? []
    let settings = try StoreSettings(bytes.span, seal: engine.seal)
    if let generation { engine.writes.settings.withLock { $0 = (generation, settings) } }
    return settings
  }

  mutating func store(_ settings: StoreSettings) throws(LarderError) {
    try transaction.put(
      try settings.record(seal: engine.seal), for: MetadataKey.settings, in: .main)
    ledger.updateStore { $0.generation &+= 1 }
  }
}
