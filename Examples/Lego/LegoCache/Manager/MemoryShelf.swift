import Larder
import Synchronization

/// The values of one kind for a plan without a disk: as many as the tier allows, the least recently used are removed.
///
/// Absence is stored too. An expired value is returned only if no newer one is available or wanted, within the
/// caller's stale window. It stays until a newer value replaces it or it is cleared. Concurrent calls for a missing value
/// share one load.
final class MemoryShelf<Value: Sendable>: Sendable {
  private struct Item {
    /// Nil: the service has no such entity.
    var value: Value?
    var written: Timestamp
    var lifetime: Duration
    var used: UInt64
    var entityTag: [UInt8]?
  }

  private struct State {
    var items: [String: Item] = [:]
    var loads: [String: Load] = [:]
    var uses: UInt64 = 0
    /// Increases with each clear, so that a load under way does not undo it.
    var era = 0

    var count: Int { items.values.count { $0.value != nil } }
  }

  private typealias Load = Task<CacheResult<Value>?, any Error>

  private let state = Mutex(State())
  private let tier: MemoryTier
  /// How long absence is stored.
  private let absence: Duration
  private let clock: any LarderClock

  init(_ tier: MemoryTier, absence: Duration, clock: any LarderClock) {
    self.tier = tier
    self.absence = min(absence, tier.lifetime)
    self.clock = clock
  }

  /// The number of values, expired ones included.
  var count: Int { state.withLock { $0.count } }

  func value(for key: String) -> Value? {
    found(key).flatMap { isFresh($0) ? $0.value : nil }
  }

  func set(_ value: Value?, for key: String, entityTag: [UInt8]? = nil, era: Int? = nil) {
    state.withLock { state in
      guard era == nil || era == state.era else { return }
      state.uses += 1
      state.items[key] = Item(
        value: value, written: clock.now, lifetime: value == nil ? absence : tier.lifetime,
        used: state.uses, entityTag: entityTag)
      // A tier has at most a thousand values.
      guard state.items.count > tier.entries,
        let oldest = state.items.min(by: { $0.value.used < $1.value.used })
      else { return }
      state.items[oldest.key] = nil
    }
  }

  /// Returns the number of removed values.
  func clear() -> Int {
    state.withLock { state in
      defer { state.items = [:] }
      state.era += 1
      return state.count
    }
  }

  /// Removes expired values; returns their number.
  func clearExpired() -> Int {
    state.withLock { state in
      let before = state.count
      state.items = state.items.filter { isFresh($0.value) }
      return before - state.count
    }
  }

  private func age(_ item: Item) -> Duration { item.written.duration(to: clock.now) }

  private func isFresh(_ item: Item) -> Bool {
    age(item) >= .zero && age(item) < item.lifetime
  }

  /// Whether it may be returned within this stale window.
  private func isWithin(_ window: Duration?, _ item: Item) -> Bool {
    age(item) < item.lifetime + (window ?? .zero)
  }

  private func found(_ key: String) -> Item? {
    state.withLock { state in
      guard var item = state.items[key] else { return nil }
      state.uses += 1
      item.used = state.uses
      state.items[key] = item
      return item
    }
  }

  /// Like `Cache.revalidatedResult(for:options:load:)`, without a store.
  func answer(
    for key: String, options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    let item = found(key).flatMap { isWithin(options.stale?.onError, $0) ? $0 : nil }
    let isFresh = item.map { self.isFresh($0) } ?? false
    let known = item.flatMap { item in
      item.value.map { CacheResult(value: $0, source: isFresh ? .memory : .stale, age: age(item)) }
    }
    switch options.policy {
    case .standard: if isFresh { return known }
    case .cacheElseLoad: if isFresh || known != nil { return known }
    case .cacheOnly: return known
    case .revalidate, .reload: break
    }
    do {
      let asksAnew = options.policy == .reload
      return try await flight(of: key, item: asksAnew ? nil : item, load).value
    } catch {
      // The window may have ended during the load.
      guard options.policy != .reload, var known, let item,
        isWithin(options.stale?.onError, item)
      else { throw error }
      known.source = .stale
      known.error = error
      return known
    }
  }

  private func flight(
    of key: String, item: Item?,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) -> Load {
    state.withLock { state in
      if let load = state.loads[key] { return load }
      let era = state.era
      let task = Load { [self] in
        defer { self.state.withLock { $0.loads[key] = nil } }
        let known = item.flatMap { item in
          item.value.map {
            CachedValue(value: $0, written: item.written, entityTag: item.entityTag)
          }
        }
        switch try await load(known) {
        case .value(let value):
          set(value, for: key, era: era)
          return CacheResult(value: value, source: .loaded)
        case .stored(let value, let attributes):
          set(value, for: key, entityTag: attributes.entityTag, era: era)
          return CacheResult(value: value, source: .loaded)
        case .unchanged:
          guard let known else { return nil }
          set(known.value, for: key, entityTag: known.entityTag, era: era)
          return CacheResult(value: known.value, source: .loaded)
        case .absent:
          set(nil, for: key, era: era)
          return nil
        }
      }
      state.loads[key] = task
      return task
    }
  }
}
