extension Cache {
  /// The values under `keys`, in the order of `keys`; nil for a key without a value. Throws the first error of
  /// ``results(for:options:load:)``.
  public func values<Name: StoreKey & Sendable>(
    for keys: some Sequence<Name>, options: LoadOptions = LoadOptions(),
    load:
      @escaping @Sendable ([(key: Name, stored: CachedValue<Value>?)]) async throws -> [(
        Name, Loaded<Value>
      )]
  ) async throws -> [Value?] {
    try await results(for: keys, options: options, load: load).map { try $0.get()?.value }
  }

  /// Like `values`, but with the source and age of each value. A key has an error, such as ``LarderError/Code/notStored`` with
  /// ``RequestPolicy/cacheOnly``, if neither a load nor a stored value answers.
  ///
  /// Each key is loaded like a single key, with all options. A commit has at most 1,000 values and 8 MiB, or one larger value.
  ///
  /// - Parameter load: gets the keys that are missing or too old, except keys that another caller is loading. The keys come with
  ///   their stored values, in the order of `keys` and without duplicates. Later calls get only keys that another process was
  ///   loading but has not stored. The closure returns an answer for each key, in any order. A key without an answer is absent.
  ///   If the closure throws, each key of the call has that error. ``Loaded/failed(_:)`` is the error of one key.
  /// - Returns: the results in the order of the keys; nil for a key without a value.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func results<Name: StoreKey & Sendable>(
    for keys: some Sequence<Name>, options: LoadOptions = LoadOptions(),
    load:
      @escaping @Sendable ([(key: Name, stored: CachedValue<Value>?)]) async throws -> [(
        Name, Loaded<Value>
      )]
  ) async throws -> [Result<CacheResult<Value>?, any Error>] {
    var places: [Key: Int] = [:]
    var names: [Name] = []
    let order = keys.map { name in
      let place = places[Key(name), default: names.count]
      if place == names.count {
        places[Key(name)] = place
        names.append(name)
      }
      return place
    }
    let bulk = BulkLoad<Value> { [names, places] missing in
      let answers = try await load(
        missing.compactMap { missing in places[missing.key].map { (names[$0], missing.stored) } })
      return Dictionary(answers.map { (Key($0.0), $0.1) }, uniquingKeysWith: { _, last in last })
    }
    // Enters the loads of all keys before the first wait, so that the first call of `load` gets all keys.
    let requests = names.map { name in
      let loading = CacheLoad(cache: self, key: name.copied, options: options, source: .bulk(bulk))
      let request = Result { () -> CacheLoad<Value>.Request in
        switch try stored(name, options) {
        case .known(let result): .known(LoadedValue(result: result))
        case .needsLoad(let lookup): try loading.begin(after: lookup)
        }
      }
      return (loading, request)
    }
    bulk.begin()
    typealias Outcome = Result<CacheResult<Value>?, any Error>
    let results = await withTaskGroup(of: (Int, Outcome).self) { group in
      var results: [Outcome] = requests.map { _ in .success(nil) }
      for (index, (loading, request)) in requests.enumerated() {
        group.addTask {
          do { return (index, .success(try await loading.result(of: request.get()))) } catch {
            return (index, .failure(error))
          }
        }
      }
      for await (index, result) in group { results[index] = result }
      return results
    }
    try Task.checkCancellation()
    return order.map { results[$0] }
  }
}
