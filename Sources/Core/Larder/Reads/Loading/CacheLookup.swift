import LMDB
import LarderSystem

struct EntryLookup {
  /// The found entry; nil if the key has no entry in a state that the lookup accepts, or if the value cannot be decoded.
  var entry: CachedEntry?
  var isFromMemory = false
  /// The bytes that were decoded, or for a load the cost of the value in memory; nil if there is no value.
  var size: Int?
  var base: BaseVersion
  var snapshot: UInt64
  var moment: UInt64
  /// The time of the lookup; zero if the purpose of the lookup is only the value.
  var now: Timestamp

  /// Whether the entry is fresh, and has another version or lifetime than in the earlier lookup `other`.
  func isChanged(since other: EntryLookup) -> Bool {
    guard let header = entry?.header, entry?.state == .fresh else { return false }
    guard let before = other.entry?.header else { return true }
    return header.version != before.version || header.expires != before.expires
      || header.written != before.written
  }
}

package struct CacheLookup<Value: Sendable> {
  var found: EntryLookup
  var value: Value?

  var cachedValue: CachedValue<Value>? {
    guard let entry = found.entry, let value else { return nil }
    return CachedValue(
      value: value, written: Timestamp(milliseconds: entry.header.written),
      validators: Validators(
        entityTag: entry.fields?[.entityTag], lastModified: entry.fields?[.lastModified]),
      metadata: entry.fields?[.metadata])
  }
}

/// The version that a load would replace.
struct BaseVersion {
  /// The namespace at the lookup; ``NamespaceID/store`` if the namespace did not exist.
  var id: NamespaceID
  var version: UInt64?
}

extension Cache {
  func loadName(_ key: [UInt8]) -> LoadName {
    LoadName(namespace: ExactString(name), key: key, type: ObjectIdentifier(Value.self))
  }

  /// Removes the running load of `key` from the table, so that later callers start a load of their own.
  package func leaveLoad(of key: [UInt8]) { namespace.engine.loads.running.remove(loadName(key)) }

  /// A value that this process has loaded but not committed yet, for a reader whose lookup found no value.
  func uncommittedValue(_ key: Span<UInt8>, base: BaseVersion, snapshot: UInt64) -> Value? {
    guard !namespace.engine.loads.writes.isEmpty else { return nil }
    let load: InFlightLoad<LoadedValue<Value>>? =
      namespace.engine.loads.running.load(named: loadName(key.copied))
    guard let load, let loaded = load.value, isNewest(load, key, in: base.id),
      loaded.write?.mayAnswer(than: base, snapshot: snapshot, now: namespace.engine.clock.now)
        ?? false
    else { return nil }
    return loaded.result?.value
  }

  func lookUp(_ key: Span<UInt8>, for purpose: LookupPurpose) throws -> CacheLookup<Value> {
    var value: Value?
    let transaction = try namespace.engine.reader.beginLookup(key, of: namespace.handle)
    let found = try lookUp(key, &value, in: transaction, for: purpose) { decodeCounting($0) }
    return CacheLookup(found: found, value: value)
  }

  /// Looks the key up once. If the value in memory is still current, `value` gets that value. Otherwise decodes the stored
  /// bytes. `value` is a parameter, because a result of generic type would make each read look up the type.
  @inline(__always)
  func lookUp(
    _ key: Span<UInt8>, _ value: inout Value?, in transaction: borrowing ReadTransaction,
    for purpose: LookupPurpose, _ decode: (Span<UInt8>) throws -> Value?
  ) throws -> EntryLookup {
    let engine = namespace.engine
    let item = memory?.item(key)
    let id = try engine.reader.identify(namespace.handle, in: transaction)
    var lookup = EntryLookup(
      base: BaseVersion(id: id), snapshot: transaction.id, moment: transaction.moment,
      now: purpose == .value ? Timestamp(milliseconds: 0) : engine.clock.now)
    func isKnown(_ entry: CachedEntry) -> Bool {
      lookup.entry = entry
      // Also set if the value turns out to be damaged or undecodable, so that a load may replace the entry.
      lookup.base.version = entry.header.version
      lookup.isFromMemory =
        entry.state == .fresh
        && item?.isValue(of: entry.header, id: id, at: engine.clock.coarseNow) ?? false
      return lookup.isFromMemory
    }
    func take(_ bytes: Span<UInt8>) throws {
      if purpose != .load { memory?.countMiss() }
      lookup.size = bytes.count
      // A load, and the read of a stale value, count no hit. So they must not use `decodeCounting`, which turns a hit into a miss.
      let isHit = purpose != .load && lookup.entry?.state == .fresh
      value = try isHit ? decode(bytes) : decoded(bytes)
    }
    let recordsAccess = !namespace.store.isReadOnly
    switch purpose {
    case .value:
      try engine.reader.lend(
        key, of: namespace.handle, id: id, in: transaction, recordsAccess: recordsAccess,
        unless: { isKnown(CachedEntry(header: $0, state: .fresh)) }, take)
    case .request, .load:
      lookup.entry = try engine.reader.lendEntry(
        key, of: namespace.handle, id: id, in: transaction, isRead: purpose == .request,
        recordsAccess: recordsAccess, unless: isKnown, take)
    }
    if lookup.isFromMemory, let item, let entry = lookup.entry {
      if purpose != .load { memory?.confirm(item, entry.remembered, snapshot: lookup.moment) }
      if purpose == .load { lookup.size = item.cost }
      value = unbox(item)
      return lookup
    }
    if lookup.size != nil, value == nil { lookup.entry = nil }
    if purpose != .load { updateMemory(key, value, lookup, replacing: item, in: transaction) }
    return lookup
  }

  /// Whether the key still has the value that the lookup `earlier` has found. Does not decode the value.
  func isUnchanged(_ key: Span<UInt8>, since earlier: CacheLookup<Value>) throws -> Bool {
    guard earlier.value != nil, let before = earlier.found.entry?.header else { return false }
    let reader = namespace.engine.reader
    let transaction = try reader.beginLookup(key, of: namespace.handle)
    let found = try reader.lookUp(key, of: namespace.handle, in: transaction)
    return (found.outcome == .fresh || found.outcome == .stale)
      && found.id == earlier.found.base.id && found.header.version == before.version
      && found.header.expires == before.expires && found.header.written == before.written
  }

  /// Puts a decoded value into the memory tier in place of an outdated value.
  private func updateMemory(
    _ key: Span<UInt8>, _ value: Value?, _ lookup: EntryLookup, replacing item: MemoryItem?,
    in transaction: borrowing ReadTransaction
  ) {
    guard let memory else { return }
    if lookup.size == nil { memory.countMiss() }
    if let size = lookup.size, let value, let entry = lookup.entry, entry.state == .fresh {
      namespace.engine.followMemoryLimit(in: transaction)
      keep(
        value, for: key, size: size,
        Stored(id: lookup.base.id, header: entry.remembered, moment: lookup.moment))
    } else if let item {
      memory.remove(item)
    }
  }
}

enum LookupPurpose {
  /// A read that finds only a fresh value.
  case value
  /// A read before a possible load. Also finds stale and negative entries. Counts as a read and as an access.
  case request
  /// The lookup of the load itself. Counts neither as a read nor as an access, and also reads the fields of the entry.
  case load
}

/// The stored result of a request, or the lookup after which a load begins.
package enum StoredResult<Value: Sendable> {
  /// The result of the request; nil if a negative entry says that the key has no value.
  case known(CacheResult<Value>?)
  /// The request needs a load, perhaps in the background. `after` is nil for a request without a lookup.
  case needsLoad(after: CacheLookup<Value>?)
}

enum LoadDecision: Equatable {
  case use
  case useAndRefresh
  case load
  case fail

  init(_ lookup: EntryLookup, _ options: LoadOptions) {
    guard let entry = lookup.entry, !(options.needsValue && entry.isNegative) else {
      self = options.policy == .cacheOnly ? .fail : .load
      return
    }
    let isFresh = entry.state == .fresh
    let isNearEnd = isFresh && entry.isNearExpiry(options.refreshAhead, at: lookup.now)
    switch options.policy {
    case .cacheOnly: self = .use
    case .cacheElseLoad: self = isNearEnd ? .useAndRefresh : .use
    case .standard where isFresh && !isNearEnd: self = .use
    case .standard
    where !options.requiresFresh
      && (isFresh || entry.isWithin(options.stale?.whileRevalidating, at: lookup.now)):
      self = .useAndRefresh
    case .standard, .reload, .revalidate: self = .load
    }
  }
}
