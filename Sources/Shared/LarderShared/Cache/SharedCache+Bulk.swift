public import Larder
import LarderSystem
import Synchronization

extension SharedCache {
  /// The most lookups, requests for leases and fills that one call has under way.
  static var mostRequests: Int { 512 }

  /// The values in the order of the keys; nil for a key without a value. Throws the first error of ``results(for:options:load:)``.
  public func values<Name: StoreKey & Sendable>(
    for keys: some Sequence<Name>, options: LoadOptions = LoadOptions(),
    load:
      @escaping @Sendable ([(key: Name, stored: CachedValue<Value>?)]) async throws -> [(
        Name, Loaded<Value>
      )]
  ) async throws -> [Value?] {
    try await results(for: keys, options: options, load: load).map { try $0.get()?.value }
  }

  /// The values with the source and the age of each value, or the errors of the keys that failed.
  ///
  /// Each key is handled as by `result(for:options:load:)`. One call of `load` gets all keys for which neither this store nor
  /// the tier has a value. Further calls get the keys that other machines loaded but did not store, and the keys that changed
  /// during the call. If the tier cannot be used, each call outside other loads has at most ``SharedOptions/maxLoads`` keys.
  ///
  /// - Parameter load: as for `results(for:options:load:)` of `Cache`. A key that is missing in the answer has no value.
  /// - Returns: the results in the order of the keys; nil for a key without a value.
  /// - Throws: `CancellationError` if the task is cancelled, or an error that concerns all keys, such as too many tags.
  public func results<Name: StoreKey & Sendable>(
    for keys: some Sequence<Name>, options: LoadOptions = LoadOptions(),
    load:
      @escaping @Sendable ([(key: Name, stored: CachedValue<Value>?)]) async throws -> [(
        Name, Loaded<Value>
      )]
  ) async throws -> [Result<CacheResult<Value>?, any Error>] {
    try await results(for: Array(keys), options, round: 1, load)
  }

  private func results<Name: StoreKey & Sendable>(
    for keys: [Name], _ options: LoadOptions, round: Int,
    _ load: @escaping BulkOrigin<Name, Value>.Source
  ) async throws -> [Result<CacheResult<Value>?, any Error>] {
    try checkName()
    try Frame.checkCount(of: options.tags)
    let standing = self.standing
    var terms = options.forStore
    let isDisconnected = standing == .disconnected && options.policy == .standard
    if isDisconnected || round > 1 && ![.reload, .cacheOnly].contains(options.policy) {
      terms.policy = .revalidate
    }
    for key in keys where shared.limiter.mustNotJoin(sharedKey(key)) {
      local.leaveLoad(of: Key(key).bytes)
    }
    let asked = Mutex<Set<Key>>([])
    let found = try await local.results(for: keys, options: terms) { [terms] missing in
      asked.withLock { $0.formUnion(missing.map { Key($0.key) }) }
      let origin = BulkOrigin(missing.map { $0.key }, load)
      let places = Places(Self.mostRequests)
      return await withTaskGroup(of: (Name, Loaded<Value>).self) { group in
        for (key, stored) in missing {
          group.addTask {
            (key, await outcome(of: key, stored, terms, options.policy, origin, places))
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    var (results, again) = (found, [Int]())
    for (index, found) in found.enumerated() {
      switch found {
      case .success(let result?) where !(result.error is Overtaken):
        results[index] = .success(confirmed(result, standing))
      // The policy `revalidate` takes no note of the store, so its nil is the answer of a load, also of a joined load.
      case .success(nil)
      where terms.policy == .revalidate || isCertain(standing, options)
        || asked.withLock { $0.contains(Key(keys[index])) }:
        break
      case .failure(let error) where !(error is Overtaken): break
      case .success, .failure:
        again.append(index)
        let error = LarderError(
          .busy, "a value of namespace \(name) was changed \(round) times before it was stored")
        if var result = try? found.get() {
          result.error = error
          results[index] = .success(confirmed(result, standing))
        } else {
          results[index] = .failure(error)
        }
      }
    }
    try Task.checkCancellation()
    // The values were changed during the call, or their absence is not confirmed. In both cases the keys are read again.
    guard !again.isEmpty, round < SharedLoad<Value>.mostChanges else { return results }
    let later = try await self.results(for: again.map { keys[$0] }, options, round: round + 1, load)
    for (index, result) in zip(again, later) { results[index] = result }
    return results
  }

  private func outcome<Name: StoreKey & Sendable>(
    of key: Name, _ stored: CachedValue<Value>?, _ options: LoadOptions, _ policy: RequestPolicy,
    _ origin: BulkOrigin<Name, Value>, _ places: Places
  ) async -> Loaded<Value> {
    defer { origin.pass(key) }
    let shared = sharedKey(key)
    do {
      guard shared.isPossible else { return try await origin.answer(about: key, stored) }
      let loading = SharedLoad(
        cache: self, key: shared, options: options, policy: policy,
        load: { try await origin.answer(about: key, $0) }, waits: { origin.pass(key) },
        places: places)
      return try await loading.outcome(stored)
    } catch { return .failed(error) }
  }
}
