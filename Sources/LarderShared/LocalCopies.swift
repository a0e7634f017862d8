import Larder

/// The versions of one store's copies, and marks of the changes that its machine has made in the tier.
///
/// A copy has its version as the entry's metadata. A change leaves a mark under its position for a while, in a namespace of
/// the store, so that a value that was fetched before the change is not stored after it, by any process.
struct LocalCopies: Sendable {
  static let namespace = "shared-changes"
  /// Longer than a fetch and its commit take, whatever delays them.
  static let lifetime = Duration.minutes(5)

  let store: Store
  private let marks: Store.Namespace

  init(_ store: Store) {
    self.store = store
    marks = store.namespace(Self.namespace)
  }

  /// The newest change of the key, its namespace and the tags that this store knows of.
  func newestChange(of key: SharedKey, tags: [String]) throws(LarderError) -> Position {
    var newest = Position.zero
    for name in Self.names(of: key, tags: tags) {
      let mark: [UInt8]? = try marks.value(for: name)
      if let position = mark.flatMap({ Position(bytes: $0) }) { newest = max(newest, position) }
    }
    return newest
  }

  /// Whether a value of that version may be stored: no newer change is known, and no newer value is fresh there.
  func mayStore(
    _ version: Position, for key: SharedKey, tags: [String], in batch: inout WriteBatch
  ) throws -> Bool {
    for name in Self.names(of: key, tags: tags) {
      if let mark = try batch.value(for: name, in: marks), let position = Position(bytes: mark),
        version < position
      {
        return false
      }
    }
    guard let present = try batch.entry(for: key.bytes, in: store.namespace(key.namespace)),
      present.state == .fresh, let itsVersion = present.metadata.flatMap({ Position(bytes: $0) })
    else { return true }
    return version >= itsVersion
  }

  /// Removes a key here, and leaves a mark if the position of the removal is known.
  func remove(_ key: SharedKey, at position: Position?) async throws {
    try await store.commit { [self] batch in
      let namespace = store.namespace(key.namespace)
      if let position {
        let entry = try batch.entry(for: key.bytes, in: namespace)
        try mark(Self.name(of: key), position, in: &batch)
        if let version = entry?.metadata.flatMap({ Position(bytes: $0) }), version >= position {
          return
        }
      }
      try batch.remove(key.bytes, from: namespace)
    }
  }

  /// Leaves a mark for a whole namespace.
  func cleared(_ namespace: String, at position: Position) async throws {
    try await store.commit { [self] batch in
      try mark(Self.name(ofNamespace: namespace), position, in: &batch)
    }
  }

  /// Leaves a mark for a tag.
  func invalidated(_ tag: String, at position: Position) async throws {
    try await store.commit { [self] batch in
      try mark(Self.name(ofTag: tag), position, in: &batch)
    }
  }

  private func mark(
    _ name: [UInt8], _ position: Position, in batch: inout WriteBatch
  ) throws {
    if let present = try batch.value(for: name, in: marks).flatMap({ Position(bytes: $0) }),
      present > position
    {
      return
    }
    try batch.set(position.bytes, for: name, in: marks, expires: .after(Self.lifetime))
  }

  private static func names(of key: SharedKey, tags: [String]) -> [[UInt8]] {
    [name(of: key), name(ofNamespace: key.namespace)] + tags.map(name(ofTag:))
  }

  private static func name(of key: SharedKey) -> [UInt8] {
    Array("key:".utf8) + TierNames.name(of: key)
  }

  private static func name(ofNamespace name: String) -> [UInt8] { Array("namespace:\(name)".utf8) }
  private static func name(ofTag tag: String) -> [UInt8] { Array("tag:\(tag)".utf8) }
}
