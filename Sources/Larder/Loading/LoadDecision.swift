import LarderSystem

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
