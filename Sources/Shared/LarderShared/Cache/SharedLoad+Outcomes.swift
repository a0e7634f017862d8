import Larder

/// The outcomes of a shared load, and the errors that come with a value.
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

  /// A loaded value that the tier has, or does not want.
  func loaded(
    _ value: Value, _ stamp: ValueStamp, _ ticket: LocalCopies.Ticket
  ) -> Loaded<Value> {
    var attributes = attributes(stamp, .loaded, nil) { [copies, key, tags = options.tags] batch in
      let mayStore = try copies.mayStore(
        stamp, current: stamp.version, ticket, for: key, tags: tags, in: &batch)
      guard mayStore else { throw Overtaken() }
      return true
    }
    attributes.tags = options.tags
    return .value(value, attributes)
  }

  /// A loaded value that the tier has not got.
  func unshared(
    _ value: Value, _ stamp: ValueStamp, _ ticket: LocalCopies.Ticket, _ error: LarderError
  ) -> Loaded<Value> {
    var attributes = attributes(stamp, .loaded, error) { [copies, key, tags = options.tags] batch in
      guard copies.isCurrent(key, tags: tags, at: stamp.version) else { throw Overtaken() }
      return try copies.mayStoreUnshared(stamp, ticket, for: key, tags: tags, in: &batch)
    }
    attributes.tags = options.tags + [LocalCopies.unsharedTag]
    return .value(value, attributes)
  }

  /// A loaded value that neither the tier nor this store may keep.
  func unstored(
    _ value: Value, _ stamp: ValueStamp, _ error: LarderError
  ) -> Loaded<Value> {
    .value(value, attributes(stamp, .loaded, error) { _ in false })
  }

  /// A value of the tier.
  func stored(
    _ value: Value, _ copy: TierCopy<Value>, _ ticket: LocalCopies.Ticket,
    _ origin: CopyTerms.Origin, _ error: (any Error)? = nil
  ) -> Loaded<Value> {
    let (stamp, tags, now) = (copy.stamp, copy.frame.tags, cache.store.now)
    var attributes = attributes(stamp, origin, error) { [copies, key, head = copy.head] batch in
      let mayStore = try copies.mayStore(
        stamp, current: head, ticket, for: key, tags: tags, in: &batch)
      guard mayStore else { throw Overtaken() }
      return true
    }
    // Machines that took the value at the same time do not come back at the same time.
    let part = copy.isFresh ? Double.random(in: 0.9...1) : 1
    attributes.expires = .at(now.advanced(by: copy.remaining * part))
    attributes.stale = copy.frame.stale
    attributes.tags = tags
    attributes.written = now.advanced(by: .zero - copy.age)
    return .value(value, attributes)
  }

  private func attributes(
    _ stamp: ValueStamp, _ origin: CopyTerms.Origin, _ error: (any Error)?,
    mayStore: @escaping @Sendable (inout WriteBatch) throws -> Bool
  ) -> EntryAttributes {
    var attributes = EntryAttributes(codec: cache.codec.id)
    attributes.metadata = stamp.bytes
    attributes.copy = CopyTerms(origin: origin, error: error, mayStore: mayStore)
    return attributes
  }
}

/// The value of a load was changed before it was stored. A caller that came after the change must not get it, and every
/// caller of the load asks again.
struct Overtaken: Error {}
