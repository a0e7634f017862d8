import Larder
import Synchronization

/// The values of one kind where nothing goes to disk: as many as the tier says, for as long; what was used longest ago
/// gives way.
///
/// Of several tasks that ask for what is not there, one loads it.
final class MemoryShelf<Value: Sendable>: Sendable {
  private struct Item {
    var value: Value
    var written: Timestamp
    var used: UInt64
    var entityTag: [UInt8]?
  }

  private struct State {
    var items: [String: Item] = [:]
    var loads: [String: Load] = [:]
    var uses: UInt64 = 0
    /// Another one after each clearing, which a load under way must not undo.
    var era = 0
  }

  private typealias Load = Task<Loaded<Value>?, any Error>

  private let state = Mutex(State())
  private let tier: MemoryTier
  private let clock: any LarderClock

  init(_ tier: MemoryTier, clock: any LarderClock) {
    self.tier = tier
    self.clock = clock
  }

  /// How many are there, those included whose time has come and that nobody has looked at since.
  var count: Int { state.withLock { $0.items.count } }

  func value(for key: String) -> Value? { found(key)?.value }

  func set(_ value: Value, for key: String, entityTag: [UInt8]? = nil, era: Int? = nil) {
    state.withLock { state in
      guard era == nil || era == state.era else { return }
      state.uses += 1
      state.items[key] = Item(
        value: value, written: clock.now, used: state.uses, entityTag: entityTag)
      // At most a thousand are looked through for the oldest.
      guard state.items.count > tier.entries,
        let oldest = state.items.min(by: { $0.value.used < $1.value.used })
      else { return }
      state.items[oldest.key] = nil
    }
  }

  func remove(_ key: String) { state.withLock { $0.items[key] = nil } }

  /// Returns how many it was.
  func clear() -> Int {
    state.withLock { state in
      defer { state.items = [:] }
      state.era += 1
      return state.items.count
    }
  }

  /// Removes those whose time has come; returns how many it was.
  func clearExpired() -> Int {
    state.withLock { state in
      let before = state.items.count
      state.items = state.items.filter { isFresh($0.value) }
      return before - state.items.count
    }
  }

  private func isFresh(_ item: Item) -> Bool {
    let age = item.written.duration(to: clock.now)
    return age >= .zero && age < tier.lifetime
  }

  private func found(_ key: String) -> Item? {
    state.withLock { state in
      guard var item = state.items[key] else { return nil }
      guard isFresh(item) else {
        state.items[key] = nil
        return nil
      }
      state.uses += 1
      item.used = state.uses
      state.items[key] = item
      return item
    }
  }

  /// What ``Cache/answer(for:options:_:)`` does, without a store.
  func answer(
    for key: String, policy: RequestPolicy,
    _ load: @escaping @Sendable (KnownValue<Value>?) async throws -> LoadAnswer<Value>
  ) async throws -> Loaded<Value>? {
    let item = found(key)
    let known = item.map {
      Loaded(value: $0.value, source: .memory, age: $0.written.duration(to: clock.now))
    }
    switch policy {
    case .standard, .cacheElseLoad: if let known { return known }
    case .cacheOnly: return known
    case .revalidate, .reload: break
    }
    do {
      return try await flight(of: key, item: policy == .reload ? nil : item, load).value
    } catch {
      guard policy == .revalidate, var known else { throw error }
      known.source = .stale
      known.error = error
      return known
    }
  }

  private func flight(
    of key: String, item: Item?,
    _ load: @escaping @Sendable (KnownValue<Value>?) async throws -> LoadAnswer<Value>
  ) -> Load {
    state.withLock { state in
      if let load = state.loads[key] { return load }
      let era = state.era
      let task = Load { [self] in
        defer { self.state.withLock { $0.loads[key] = nil } }
        let known = item.map {
          KnownValue(value: $0.value, written: $0.written, entityTag: $0.entityTag)
        }
        switch try await load(known) {
        case .value(let value):
          set(value, for: key, era: era)
          return Loaded(value: value, source: .loaded)
        case .stored(let value, let attributes):
          set(value, for: key, entityTag: attributes.entityTag, era: era)
          return Loaded(value: value, source: .loaded)
        case .unchanged:
          guard let item else { return nil }
          set(item.value, for: key, entityTag: item.entityTag, era: era)
          return Loaded(value: item.value, source: .loaded)
        case .absent:
          remove(key)
          return nil
        }
      }
      state.loads[key] = task
      return task
    }
  }
}
