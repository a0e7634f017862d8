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
struct NamespaceDirectory {
  private var latest: KnownNamespace?
  private var others: [ExactString: KnownNamespace] = [:]

  /// The namespace of that name; nil if it is absent.
  mutating func find(
    _ name: String, _ context: inout WriteContext
  ) throws(LarderError) -> KnownNamespace? {
    if let latest, latest.isNamed(name) { return latest }
    if let known = others[ExactString(name)] {
      remember(known)
      return known
    }
    let handle = context.engine.handle(for: name)
    let generation =
      context.counters.hasCommittedGeneration ? context.counters.store.generation : nil
    if let generation,
      let known = handle.known.withLock({ $0?.generation == generation ? $0?.namespace : nil })
    {
      remember(known)
      return known
    }
    guard let bytes = try context.transaction.copy(of: MetadataKey.namespace(name), in: .main)
    else {
      return nil
    }
    let namespace = KnownNamespace(
      try NamespaceRecord(bytes.span, name: name, seal: context.engine.seal), named: name)
    if let generation { handle.known.withLock { $0 = (generation, namespace) } }
    remember(namespace)
    return namespace
  }

  private mutating func remember(_ namespace: KnownNamespace) {
    if let latest { others[ExactString(latest.name)] = latest }
    latest = namespace
  }

  /// The namespace of that name, which is made if it is absent.
  mutating func findOrMake(
    _ name: String, _ context: inout WriteContext
  ) throws(LarderError) -> KnownNamespace {
    if let namespace = try find(name, &context) { return namespace }
    try NamespaceName.validate(name)
    let id = try newID(&context)
    return try store(
      NamespaceRecord(id: id, created: context.now.milliseconds), named: name, &context)
  }

  @discardableResult
  mutating func store(
    _ record: NamespaceRecord, named name: String, _ context: inout WriteContext
  ) throws(LarderError) -> KnownNamespace {
    let bytes = try record.record(name: name, seal: context.engine.seal)
    try context.transaction.put(bytes, for: MetadataKey.namespace(name), in: .main)
    let namespace = KnownNamespace(record, named: name)
    remember(namespace)
    context.counters.updateStore { $0.generation &+= 1 }
    return namespace
  }

  /// Removes a name; the caller stores its record under another one.
  mutating func remove(
    _ name: String, _ context: inout WriteContext
  ) throws(LarderError) {
    try context.transaction.remove(MetadataKey.namespace(name), from: .main)
    if latest?.isNamed(name) == true { latest = nil }
    others[ExactString(name)] = nil
  }

  /// An id that no namespace has, nor a cleared one whose entries are not reclaimed yet; its counters begin at 0.
  func newID(
    _ context: inout WriteContext
  ) throws(LarderError) -> NamespaceID {
    for _ in 0..<NamespaceID.limit {
      let next = context.counters.store.nextID
      let raw = (1..<UInt64(NamespaceID.limit)).contains(next) ? next : 1
      context.counters.updateStore { $0.nextID = raw + 1 }
      let id = NamespaceID(rawValue: UInt32(raw))
      if try !context.transaction.contains(MetadataKey.counters(id), in: .main) {
        context.counters.begin(
          id, with: NamespaceCounters(since: context.now, epoch: context.transaction.id))
        return id
      }
    }
    throw LarderError(
      .overLimit, "\(context.engine.environment.path) has no namespace id left",
      hint: "remove namespaces")
  }

  /// All names. O(namespaces).
  func names(_ context: inout WriteContext) throws(LarderError) -> [String] {
    let prefix = MetadataKey.namespaces
    return try context.transaction.keys(in: .main, from: prefix).map {
      String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
    }
  }

  /// The name of the namespace with that id; nil if it was cleared. O(namespaces).
  mutating func name(
    of id: NamespaceID, _ context: inout WriteContext
  ) throws(LarderError) -> String? {
    if let latest, latest.id == id { return latest.name }
    for name in try names(&context)
    where try find(name, &context)?.id == id {
      return name
    }
    return nil
  }

  // MARK: Settings of the store

  func settings(
    _ context: inout WriteContext
  ) throws(LarderError) -> StoreSettings {
    let generation =
      context.counters.hasCommittedGeneration ? context.counters.store.generation : nil
    if let generation,
      let known = context.engine.settings.withLock({
        $0?.generation == generation ? $0?.settings : nil
      })
    {
      return known
    }
    var settings = StoreSettings()
    if let bytes = try context.transaction.copy(of: MetadataKey.settings, in: .main) {
      settings = try StoreSettings(bytes.span, seal: context.engine.seal)
    }
    if let generation { context.engine.settings.withLock { $0 = (generation, settings) } }
    return settings
  }

  func store(
    _ settings: StoreSettings, _ context: inout WriteContext
  ) throws(LarderError) {
    try context.transaction.put(
      try settings.record(seal: context.engine.seal), for: MetadataKey.settings, in: .main)
    context.counters.updateStore { $0.generation &+= 1 }
  }
}
