import LMDB
import LarderSystem

extension Store {
  /// Removes every entry that has the tag `tag`, in any namespace, and the dependents of these entries.
  ///
  /// The first commit hides all entries with the tag, so no process finds them any more, even if the removal comes later.
  /// Entries that are written later may have the tag again and stay. O(entries with the tag), in transactions of at most 500
  /// such entries. If the process is killed during the call, later writes of any process remove the rest.
  ///
  /// - Parameter tag: 1 to 200 bytes of UTF-8; no byte may be 0.
  /// - Returns: the number and the bytes of the removed entries that had the tag.
  /// - Throws: ``LarderError/Code/invalidArgument`` for a bad tag; ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try invalidate(tags: [tag])
  }

  /// Removes every entry that has all of `tags`; see ``invalidate(tag:)``.
  ///
  /// Throws ``LarderError/Code/invalidArgument`` if `tags` is empty.
  @discardableResult
  public func invalidate(tags: [String]) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try engine.invalidate(EntryAttributes.validated(all: tags), in: nil)
  }

  /// Invalidates a tag in one namespace, or in all if `namespace` is nil. Values that were written after `horizon` stay.
  package func invalidate(
    tag: String, in namespace: String?, asOf horizon: WriteHorizon
  ) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try engine.invalidate([EntryAttributes.validated(tag)], in: namespace, asOf: horizon)
  }

  /// Invalidates a tag for a task. Each transaction shares its commit with other writes and blocks no thread.
  package func invalidateInSteps(tag: String) async throws {
    let tags = [try EntryAttributes.validated(tag)]
    var tombstone = try await commit { batch in
      try batch.session.beginInvalidation(of: tags, in: nil).tombstone
    }
    while let key = tombstone {
      tombstone = try await commit { try $0.session.resumeInvalidation(key).tombstone }
    }
  }
}

extension Store.Namespace {
  /// Removes every entry of this namespace that has the tag `tag`; see ``Store/invalidate(tag:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try invalidate(tags: [tag])
  }

  /// Removes every entry of this namespace that has all of `tags`; see ``Store/invalidate(tags:)``.
  @discardableResult
  public func invalidate(tags: [String]) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    return try engine.invalidate(EntryAttributes.validated(all: tags), in: name)
  }
}

/// How many records of the tag index a transaction handles: `perWrite` for each write that it makes, or `perBatch` if it makes no
/// other write. A tombstone hides the other entries, and has the position at which a later transaction of any process continues.
enum TagInvalidation {
  static let perWrite = 32
  static let perBatch = 500
}

extension StoreEngine {
  fileprivate func invalidate(
    _ tags: [[UInt8]], in namespace: String?, asOf horizon: WriteHorizon? = nil
  ) throws(LarderError) -> RemovalResult {
    var (total, tombstone) = try commit(.withoutCleanup) { batch in
      try batch.session.beginInvalidation(of: tags, in: namespace, asOf: horizon)
    }
    while let key = tombstone {
      let step = try commit(.withoutCleanup) { try $0.session.resumeInvalidation(key) }
      total += step.removal
      tombstone = step.tombstone
    }
    // One transaction removes a limited number of dependents. After a commit with cleanup, none remain. The invalidation is
    // committed, so its caller gets no error, and later writes remove the rest.
    if (try? environment.beginRead().state(seal)?.orphans) != 0 { try? commit { _ in } }
    return total
  }
}

extension WriteSession {
  /// Returns the result, and the key of the tombstone if entries remain. Handles at most `limit` records of the tag index.
  mutating func beginInvalidation(
    of tags: [[UInt8]], in namespace: String?, asOf horizon: WriteHorizon? = nil,
    limit: Int = TagInvalidation.perBatch
  ) throws(LarderError) -> (removal: RemovalResult, tombstone: [UInt8]?) {
    // An entry that has all of the tags also has the first tag, so recording the first tag is enough.
    recordRemoval(of: RemovalTable.hash(ofTag: tags[0], in: namespace))
    let names = if let namespace { [namespace] } else { try self.names(with: tags[0], limit) }
    var tombstone = Tombstone(tags: tags, horizon: try versions(of: names, asOf: horizon))
    if tombstone.horizon.isEmpty { return (RemovalResult(), nil) }
    let (removal, isDone) = try removeHidden(by: &tombstone, limit: limit)
    recordWriteTime()
    return (removal, isDone ? nil : try add(tombstone, count: state.tombstones &+ 1))
  }

  fileprivate mutating func resumeInvalidation(
    _ key: [UInt8], limit: Int = TagInvalidation.perBatch
  ) throws(LarderError) -> (removal: RemovalResult, tombstone: [UInt8]?) {
    // If the tombstone is missing, another process has finished this invalidation.
    guard let stored = try transaction.copy(of: key, in: .main)
    else { return (RemovalResult(), nil) }
    var tombstone =
      if let tombstone = Tombstone(stored.span, at: key.span, seal: engine.seal) {
        tombstone
      } else {
        try tombstoneOfEveryTag()
      }
    // Other processes may have cached that this tombstone is damaged. With a new generation they read the tombstone again.
    if tombstone.tags.isEmpty { ledger.updateStore { $0.generation &+= 1 } }
    let (removal, isDone) = try removeHidden(by: &tombstone, limit: limit)
    guard isDone else {
      try transaction.put(tombstone.record(at: key, seal: engine.seal), for: key, in: .main)
      return (removal, key)
    }
    try transaction.remove(key, from: .main)
    ledger.updateStore { state in
      state.tombstones -= min(state.tombstones, 1)
      state.generation &+= 1
    }
    return (removal, nil)
  }

  mutating func resumeFirstInvalidation(limit: Int) throws(LarderError) {
    guard state.tombstones > 0 else { return }
    if let first = try transaction.keys(in: .main, from: MetadataKey.tombstones, limit: 1).first {
      _ = try resumeInvalidation(first, limit: limit)
    } else {
      // The record of the tombstone is lost. The new tombstone hides all tagged entries, because nobody knows the tags.
      _ = try add(tombstoneOfEveryTag(), count: 1)
    }
  }

  /// Stores a new tombstone, and sets the number of all tombstones to `count`. Returns the key of the new tombstone: the number
  /// of the generation, which is unique because no generation is used twice.
  private mutating func add(_ tombstone: Tombstone, count: UInt64) throws(LarderError) -> [UInt8] {
    ledger.updateStore { state in
      state.generation &+= 1
      state.tombstones = count
    }
    var key = MetadataKey.tombstones
    key.append(bigEndian: state.generation)
    try transaction.put(tombstone.record(at: key, seal: engine.seal), for: key, in: .main)
    return key
  }

  private mutating func tombstoneOfEveryTag() throws(LarderError) -> Tombstone {
    var tombstone = Tombstone(tags: [], horizon: try versions(of: namespaceNames(), asOf: nil))
    // In the index, keys of owners begin with a byte 0, and keys of tags do not. So the search begins after the owners.
    tombstone.reached = [1]
    return tombstone
  }

  /// The namespaces whose entries may have a tag: the namespaces of these entries if there are few, otherwise all namespaces.
  private mutating func names(with tag: [UInt8], _ limit: Int) throws(LarderError) -> [String] {
    let keys = try transaction.keys(in: engine.indexes.tags, from: tag + [0], limit: limit)
    var ids = Set(keys.compactMap(IndexKey.tagged).map { $0.span.namespaceID })
    for id in ids where try !isLive(id) { ids.remove(id) }
    let known = try namespaces().filter { ids.contains($0.id) }
    if keys.count < limit, known.count == ids.count { return known.map(\.name) }
    return try namespaceNames()
  }

  private mutating func versions(
    of names: [String], asOf horizon: WriteHorizon?
  ) throws(LarderError) -> [NamespaceID: UInt64] {
    var versions: [NamespaceID: UInt64] = [:]
    for name in names {
      guard let id = try self.namespace(name)?.id else { continue }
      versions[id] = if let horizon { horizon.first(in: name) } else { try counters(of: id).next }
    }
    return versions
  }

  private mutating func removeHidden(
    by tombstone: inout Tombstone, limit: Int
  ) throws(LarderError) -> (RemovalResult, isDone: Bool) {
    // The counters of a cleared namespace no longer include its entries, so this removal ignores these entries.
    for id in tombstone.horizon.keys where try !isLive(id) { tombstone.horizon[id] = nil }
    if tombstone.horizon.isEmpty { return (RemovalResult(), true) }
    let limit = min(limit, removalsInOwnBatch)
    // The index has the records of a tag by namespace, so the records of other namespaces need not be read.
    let only = tombstone.horizon.count == 1 ? tombstone.horizon.keys.first?.prefix : nil
    let prefix = tombstone.tags.first.map { $0 + [0] + (only ?? []) } ?? []
    let position = prefix.lexicographicallyPrecedes(tombstone.reached) ? tombstone.reached : nil
    let tags = engine.indexes.tags
    let keys = try transaction.keys(in: tags, from: prefix, after: position, limit: limit)
    var removal = RemovalResult()
    for key in keys {
      guard let entryKey = IndexKey.tagged(key),
        case .entry(let entry) = try contents(of: entryKey),
        tombstone.hides(entry.id, version: entry.header.version, tags: entry.fields.tags)
      else { continue }
      // Dependents leave after the loop, because a dependent that has the tag, too, must be counted.
      try remove(entry, as: .removed(.invalidated))
      removal += RemovalResult(entries: 1, bytes: entry.valueCount)
    }
    try removeOrphans()
    tombstone.reached = keys.last ?? tombstone.reached
    return (removal, keys.count < limit)
  }

  /// The number in ``RemovalTable`` of the last invalidation of a tag of the entry; 0 if the number is unknown.
  mutating func invalidation(of entry: StoredEntry) -> UInt64 {
    guard engine.removalTable.open(), let name = (try? namespace(of: entry.id))?.name else {
      return 0
    }
    return engine.removalTable.last(of: RemovalTable.hashes(ofTags: entry.fields.tags, in: name))
  }
}
