import LMDB
import LarderSystem

/// One lookup by a caller that may load the value.
package struct CacheLookup<Value: Sendable> {
  /// The entry; nil if there is nothing under the key, or nothing that can be decoded.
  var entry: CachedEntry?
  /// Nil for an entry that says there is no value.
  var value: Value?
  var isFromMemory = false
  var base: BaseVersion
  /// The commit that the lookup saw.
  var snapshot: UInt64
  /// When it was looked up.
  var now: Timestamp
}

/// The version that a load would replace.
struct BaseVersion {
  /// The namespace at that time; ``NamespaceID/store`` if there was none.
  var id: NamespaceID
  /// The version of the value; nil if there was none.
  var version: UInt64?
}

extension Cache {
  func loadName(_ key: [UInt8]) -> LoadName {
    LoadName(namespace: name, key: key, type: ObjectIdentifier(Value.self))
  }

  /// A value that was loaded in this process and is not committed yet, for a reader whose own lookup found nothing.
  func uncommittedValue(_ key: Span<UInt8>, base: BaseVersion, snapshot: UInt64) -> Value? {
    guard !namespace.engine.loadWrites.isEmpty else { return nil }
    let load: InFlightLoad<LoadedValue<Value>>? =
      namespace.engine.loads.load(named: loadName(key.copied))
    guard let loaded = load?.value,
      loaded.isNewer(than: base, snapshot: snapshot, now: namespace.engine.clock.now)
    else { return nil }
    return loaded.result?.value
  }

  /// The lookup of a caller, which statistics and the eviction policy count as a read.
  func lookUpForRead(_ key: Span<UInt8>) throws -> CacheLookup<Value> {
    try lookUp(key, for: .read)
  }

  /// The lookup of a load: it does not count, and reads what the entry has beside the value.
  func lookUpForLoad(_ key: Span<UInt8>) throws -> CacheLookup<Value> {
    try lookUp(key, for: .load)
  }

  /// One lookup. A value in memory that is still the entry's is not decoded again.
  private func lookUp(
    _ key: Span<UInt8>, for purpose: LookupPurpose
  ) throws -> CacheLookup<Value> {
    let engine = namespace.engine
    let item = memory?.item(key)
    let transaction = try engine.beginRead()
    let id = try engine.reader.identify(namespace.handle, in: transaction)
    var lookup = CacheLookup<Value>(
      base: BaseVersion(id: id), snapshot: transaction.id, now: engine.clock.now)
    var size = 0
    var isUndecodable = false
    func isKnown(_ entry: CachedEntry) -> Bool {
      lookup.isFromMemory =
        entry.state == .fresh
        && item?.isValue(of: entry.header, id: entry.id, at: engine.clock.coarseNow) ?? false
      return lookup.isFromMemory
    }
    func decode(_ bytes: Span<UInt8>) {
      size = bytes.count
      lookup.value = decodeCounting(bytes)
      isUndecodable = lookup.value == nil
    }
    let entry =
      switch purpose {
      case .read:
        try engine.reader.lendCounted(
          key, of: namespace.handle, id: id, in: transaction,
          recordsAccess: !namespace.store.isReadOnly, unless: isKnown, decode)
      case .load:
        try engine.reader.lendWithFields(key, id: id, in: transaction, unless: isKnown, decode)
      }
    guard let entry else { return lookup }
    lookup.base.version = entry.header.version
    if isUndecodable { return lookup }
    lookup.entry = entry
    if lookup.isFromMemory, let item {
      if purpose == .read { memory?.confirm(item, entry.header, snapshot: transaction.id) }
      lookup.value = unbox(item)
    } else if purpose == .read, entry.state == .fresh, let value = lookup.value {
      memory?.countMiss()
      engine.followMemoryLimit(in: transaction)
      keep(
        value, for: key, size: size, id: entry.id, header: entry.header,
        snapshot: transaction.id)
    }
    return lookup
  }
}

/// The reason of a lookup.
private enum LookupPurpose { case read, load }

/// The stored result of a request, or the lookup after which a load begins.
package enum StoredResult<Value: Sendable> {
  /// The result of the request; nil if the store says that there is no value.
  case known(CacheResult<Value>?)
  /// The request needs a load, be it in the background. There was no lookup for a request that reads nothing from the store.
  case needsLoad(after: CacheLookup<Value>?)
}

/// Whether a request uses the stored value, loads, or both.
enum LoadDecision: Equatable {
  case use
  case useAndRefresh
  /// - Parameter isFallback: whether the stored value may be served if the load fails.
  case load(isFallback: Bool)
  case fail

  init<Value>(_ lookup: CacheLookup<Value>, _ options: LoadOptions) {
    guard let entry = lookup.entry else {
      self = options.policy == .cacheOnly ? .fail : .load(isFallback: false)
      return
    }
    let isFallback =
      entry.state == .fresh || entry.isWithin(options.stale?.onError, at: lookup.now)
    switch options.policy {
    case .cacheElseLoad, .cacheOnly:
      self = .use
    case .reload, .revalidate:
      self = .load(isFallback: isFallback)
    case .standard:
      let isEnough: Bool
      if entry.state == .fresh {
        if !entry.isNearExpiry(options.refreshAhead, at: lookup.now) {
          self = .use
          return
        }
        isEnough = true
      } else {
        isEnough = entry.isWithin(options.stale?.whileRevalidating, at: lookup.now)
      }
      self =
        isEnough && !options.requiresFresh ? .useAndRefresh : .load(isFallback: isFallback)
    }
  }
}

extension CachedEntry {
  fileprivate func isNearExpiry(_ ahead: Duration?, at now: Timestamp) -> Bool {
    guard let ahead, header.expires != EntryHeader.never else { return false }
    return now.advanced(by: ahead).milliseconds >= header.expires
  }
}
