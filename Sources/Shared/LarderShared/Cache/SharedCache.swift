public import Larder
import Synchronization

/// A cache over the store of this machine and a tier that all machines of an application share. If the store has no value, a
/// read asks the tier first, and then loads. While the tier can be used, one machine at a time loads a key.
///
/// A read that finds a fresh copy in this store does not ask the tier, and takes about as long as a read of a `Cache`. A change
/// on another machine makes the copy invalid as soon as the record of the change arrives here. If a machine has not seen the
/// log for two seconds, `CacheResult/isConfirmed` of its results is false. `Docs/Use/Fleet.md` has the promises.
public struct SharedCache<Value: Sendable>: Sendable {
  /// The values in the store of this machine. Changes through ``local`` are not shared.
  public let local: Cache<Value>
  /// The tier between the store and the origin.
  public let shared: Shared
  let codec: any Codec<Value>
  let copies: LocalCopies
  let store: Store
  private let noted = NotedNamespace()

  init(_ codec: some Codec<Value>, local: Cache<Value>, shared: Shared) {
    self.local = local
    self.shared = shared
    self.codec = codec
    store = local.namespace.store
    copies = shared.copies(of: store)
  }

  /// The namespace's name, which is equal on every machine.
  public var name: String { local.name }

  // MARK: Reading

  /// The value under `key`: a fresh copy of this store, or else the value of the tier, or else the value that `load` returns.
  /// The other machines get the loaded value, too.
  ///
  /// - Parameters:
  ///   - expires: how long a loaded value stays fresh, on other machines at most 30 days; nil takes the namespace's rule.
  ///   - stale: how long after its expiry the value may be served stale; nil takes the namespace's rule.
  /// - Throws: the errors of `Cache/value(for:expires:stale:load:)`. If the tier cannot be used, `load` runs without an error.
  public func value(
    for key: some StoreKey, expires: Expiration? = nil, stale: Staleness? = nil,
    load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await result(for: key, options: LoadOptions(expires: expires, stale: stale), load: load)
      .value
  }

  /// The value of ``value(for:expires:stale:load:)``, with its source and age.
  ///
  /// If the tier could not be used, `CacheResult/error` has the reason. `RequestPolicy/cacheOnly` asks only this store. `reload`
  /// always loads. `revalidate` loads, or takes the value that another machine stores meanwhile.
  public func result(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable () async throws -> Value
  ) async throws -> CacheResult<Value> {
    let load: Load = { _ in .value(try await load()) }
    if let result = try await result(key, options, policy: options.policy, load) { return result }
    // Another caller has stored that the key has no value. But this `load` always returns a value, so it runs now.
    if options.policy != .cacheOnly {
      var own = options
      own.policy = .reload
      for policy in [options.policy, .reload] {
        if let result = try await result(key, own, policy: policy, load) { return result }
      }
    }
    throw local.notStored(Key(key).bytes)
  }

  /// The value under `key`, read or loaded; nil if the key has no value.
  public func value(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value? {
    try await result(key, options, policy: options.policy, load)?.value
  }

  /// The value under `key`, with its source and age; nil if the key has no value. `LoadOptions/absent` is the lifetime of this nil.
  ///
  /// - Parameter load: receives the value that this store or the tier has, fresh or stale. Other machines get the answer of the
  ///   load, but not the owners in it. An answer with metadata is an error.
  public func result(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> CacheResult<Value>? {
    try await result(key, options, policy: options.policy, load)
  }

  /// The present value of the tier, even if this store has another copy. If the tier has no value, `load` runs, and its value
  /// is the result; nil if the load finds no value.
  ///
  /// The result reflects every `set`, `remove`, `clear` and `invalidate` that returned before the call, on any machine. The
  /// call returns after this store has the value. If the tier cannot be used, `load` runs.
  public func currentResult(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> CacheResult<Value>? {
    var options = options
    options.policy = .revalidate
    // A load under way may have asked the tier before a change that has already returned, so this call must not join the load.
    local.leaveLoad(of: Key(key).bytes)
    let standing = copies.standing(limit: shared.options.unconfirmedLimit)
    // Without a lookup, the copy of this store, which such a change may have ended, does not replace a load that fails.
    return try await loaded(
      .needsLoad(after: nil), Key(key), options, policy: .standard, standing, load)
  }

  typealias Load = @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>

  private func result(
    _ key: some StoreKey, _ options: LoadOptions, policy: RequestPolicy, _ load: @escaping Load
  ) async throws -> CacheResult<Value>? {
    // The standing says whether copies are confirmed. The lookup must see all changes of the standing, so the lookup comes later.
    let standing = self.standing
    // While the store is disconnected, the copy is used only if the load fails.
    if standing != .disconnected || options.policy != .standard {
      let stored = try local.stored(key, options)
      guard case .known(let hit) = stored else {
        return try await loaded(stored, Key(key), options, policy: policy, standing, load)
      }
      if let hit { return confirmed(hit, standing) }
      if isCertain(standing, options) { return nil }
    }
    var options = options
    options.policy = .revalidate
    return try await loaded(
      local.stored(key, options), Key(key), options, policy: policy, standing, load)
  }

  /// How far the copies that a later lookup finds are current. Entries from before the first copy may lack any change.
  var standing: RecentChanges.Standing {
    if !noted.isKnown.load(ordering: .relaxed) {
      // The entries are counted first, because the commit of the first copy also has the note.
      let hasEntries = (try? local.namespace.committedCount()) != 0
      if (try? copies.state.hasNote(of: name)) == true {
        noted.isKnown.store(true, ordering: .relaxed)
      } else if hasEntries {
        return .disconnected
      }
    }
    return copies.standing(limit: shared.options.unconfirmedLimit)
  }

  /// Whether the store's note that the key has no value may be the answer. An answer of nil cannot say whether it is confirmed.
  func isCertain(_ standing: RecentChanges.Standing, _ options: LoadOptions) -> Bool {
    standing == .confirmed || options.policy == .cacheOnly
  }

  /// The result of a request that the value in this store does not answer.
  private func loaded(
    _ stored: StoredResult<Value>, _ key: Key, _ options: LoadOptions, policy: RequestPolicy,
    _ standing: RecentChanges.Standing, _ load: @escaping Load
  ) async throws -> CacheResult<Value>? {
    try checkName()
    try Frame.checkCount(of: options.tags)
    var options = options.forStore
    let sharedKey = sharedKey(key)
    // No store takes an empty or too long key, so the tier must not take the key either.
    guard sharedKey.isPossible else {
      return try await local.result(for: key, options: options, load: load)
    }
    if shared.limiter.mustNotJoin(sharedKey) { local.leaveLoad(of: key.bytes) }
    let loading = SharedLoad(
      cache: self, key: sharedKey, options: options, policy: policy, load: load)
    var (stored, standing) = (stored, standing)
    var changes = 0
    while true {
      var result: CacheResult<Value>?
      do {
        switch stored {
        case .known(let known): result = known
        case .needsLoad(let lookup):
          result = try await local.result(after: lookup, key.bytes, options) { stored in
            try await loading.outcome(stored)
          }
        }
        guard result?.error is Overtaken else { return result.map { confirmed($0, standing) } }
      } catch is Overtaken {
        // A result of nil cannot carry an error, so the request begins again.
      }
      changes += 1
      if changes < SharedLoad<Value>.mostChanges {
        standing = self.standing
        // A request without a lookup stays without one.
        if case .needsLoad(after: nil) = stored { continue }
        stored = try local.stored(key, options)
        if case .known(nil) = stored, !isCertain(standing, options) {
          options.policy = .revalidate
          stored = try local.stored(key, options)
        }
        continue
      }
      let error = LarderError(
        .busy, "a value of namespace \(name) was changed \(changes) times before it was stored")
      guard var result else { throw error }
      result.error = error
      return confirmed(result, standing)
    }
  }

  /// The result; its `isConfirmed` says whether the value is as new as the cache promises.
  func confirmed(
    _ result: CacheResult<Value>, _ standing: RecentChanges.Standing
  ) -> CacheResult<Value> {
    var result = result
    switch result.source {
    // If the standing is not confirmed before and after the load, the value may be older than a change that is not known here.
    case .loaded, .shared:
      result.isConfirmed =
        result.error == nil && standing == .confirmed && copies.standing(limit: .zero) == .confirmed
    case .memory, .disk, .stale:
      // A value with an error replaces a load that failed. The value was looked up before the load, so it may have changed since.
      if standing == .confirmed, result.error == nil,
        result.source != .stale || copies.standing(limit: .zero) == .confirmed
      {
        break
      }
      result.isConfirmed = false
      shared.count { $0.unconfirmed += 1 }
    }
    return result
  }
}

extension Store {
  /// A view of the namespace `name` whose values the machines of an application share; see ``cache(of:in:rules:memory:cost:)``.
  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    shared: Shared
  ) -> SharedCache<Value> {
    cache(JSONCodec<Value>(), in: name, rules: rules, memory: memory, shared: shared)
  }

  /// A view of the namespace `name` through a codec, whose values the machines of an application share.
  public func cache<Value>(
    _ codec: some Codec<Value>, in name: String, rules: Rules? = nil, memory: MemoryLimits? = nil,
    shared: Shared
  ) -> SharedCache<Value> {
    SharedCache(codec, local: cache(codec, in: name, rules: rules, memory: memory), shared: shared)
  }
}
