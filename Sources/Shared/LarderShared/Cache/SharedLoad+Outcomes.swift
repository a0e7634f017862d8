import Larder

extension SharedLoad {
  var removalsWait: LarderError {
    LarderError(
      .unreachable, "removals of this machine wait for the shared tier, which is not asked before",
      hint: "look whether the server runs and can be reached")
  }

  func gaveUp(_ reason: String) -> LarderError {
    LarderError(
      .busy, "a key of namespace \(cache.name) was loaded without its lease: \(reason)",
      hint: "allow a longer lease if loads take that long")
  }

  // MARK: Outcomes

  /// The result of a load, if the tier has stored the answer or takes no value of the key.
  func loaded(
    _ answer: Answer, _ stamp: ValueStamp, _ ticket: LocalCopies.Ticket
  ) -> Loaded<Value> {
    kept(
      answer, stamp, .loaded,
      mayStore: mayStore(stamp, current: stamp.version, ticket, answer.attributes.tags))
  }

  /// The result of a load whose answer the tier does not have, because the answer could not be sent.
  func unshared(
    _ answer: Answer, _ stamp: ValueStamp, _ ticket: LocalCopies.Ticket, _ error: any Error
  ) -> Loaded<Value> {
    var unshared = answer
    unshared.attributes.tags.append(LocalCopies.unsharedTag)
    return kept(unshared, stamp, .loaded, error) {
      [copies, key, tags = answer.attributes.tags] batch in
      guard copies.isCurrent(key, tags: tags, at: stamp.version) else { throw Overtaken() }
      return try copies.mayStoreUnshared(stamp, ticket, for: key, tags: tags, in: &batch)
    }
  }

  /// The result of a lookup in the tier. The error is that of a load that the value replaces.
  func stored(
    _ copy: TierCopy<Value>, _ ticket: LocalCopies.Ticket, _ error: (any Error)? = nil
  ) -> Loaded<Value> {
    let (stamp, now) = (copy.stamp, cache.store.now)
    // Machines that took the value at the same time must not ask for it again together, so each machine shortens the lifetime.
    let part = copy.isFresh ? Double.random(in: 0.9...1) : 1
    var attributes = copy.attributes
    attributes.expires = .at(now.advanced(by: copy.remaining * part))
    attributes.written = now.advanced(by: .zero - copy.age)
    return kept(
      Answer(value: copy.value, attributes: attributes), stamp,
      copy.isFresh && error == nil ? .shared : .stale, error,
      mayStore: mayStore(stamp, current: copy.head, ticket, attributes.tags))
  }

  private func mayStore(
    _ stamp: ValueStamp, current: Position, _ ticket: LocalCopies.Ticket, _ tags: [String]
  ) -> @Sendable (inout WriteBatch) throws -> Bool {
    { [copies, key] batch in
      let mayStore = try copies.mayStore(
        stamp, current: current, ticket, for: key, tags: tags, in: &batch)
      guard mayStore else { throw Overtaken() }
      return true
    }
  }

  /// - Parameter mayStore: whether this store may keep the answer.
  func kept(
    _ answer: Answer, _ stamp: ValueStamp, _ origin: CopyTerms.Origin, _ error: (any Error)? = nil,
    mayStore: @escaping @Sendable (inout WriteBatch) throws -> Bool
  ) -> Loaded<Value> {
    var attributes = answer.attributes
    attributes.metadata = stamp.bytes
    attributes.copy = CopyTerms(
      origin: origin, error: error, overtaken: error == nil ? Overtaken() : nil, mayStore: mayStore)
    return answer.value.map { .value($0, attributes) } ?? .absent(attributes)
  }
}

/// The key was changed before the loaded value was stored. Callers after the change must not get the value, so each asks again.
struct Overtaken: Error {}
