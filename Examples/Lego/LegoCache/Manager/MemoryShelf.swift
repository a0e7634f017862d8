import Larder
import Synchronization

/// The values of one kind where nothing goes to disk: as many as the tier says; what was used longest ago gives way.
///
/// That there is no such thing is known as well. What is past its time is given only where nothing newer is to be had or
/// wanted, and only within the window of who asks; after that it is as if it were not there. It stays until something newer
/// comes, or until it is cleared. Of several tasks that ask for what is not there, one loads it.
final class MemoryShelf<Value: Sendable>: Sendable {
  private struct Item {
    /// Nil: there is no such thing.
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
    /// Another one after each clearing, which a load under way must not undo.
    var era = 0

    var count: Int { items.values.count { $0.value != nil } }
  }

  private typealias Load = Task<CacheResult<Value>?, any Error>

  private let state = Mutex(State())
  private let tier: MemoryTier
  /// How long it is known that there is no such thing.
  private let absence: Duration
  private let clock: any LarderClock

  init(_ tier: MemoryTier, absence: Duration, clock: any LarderClock) {
    self.tier = tier
    self.absence = min(absence, tier.lifetime)
    self.clock = clock
  }

  /// How many are there, those included whose time has come.
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
      // At most a thousand are looked through for the oldest.
      guard state.items.count > tier.entries,
        let oldest = state.items.min(by: { $0.value.used < $1.value.used })
      else { return }
      state.items[oldest.key] = nil
    }
  }

  /// Returns how many it was.
  func clear() -> Int {
    state.withLock { state in
      defer { state.items = [:] }
      state.era += 1
      return state.count
    }
  }

  /// Removes those whose time has come; returns how many it was.
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

  /// Whether it may still be given so long past its time.
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

  /// What ``Cache/answer(for:options:_:)`` does, without a store.
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
      // The load may have taken long.
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
