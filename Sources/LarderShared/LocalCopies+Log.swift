import Larder

/// Changes of other machines, as the log tells of them.
extension LocalCopies {
  /// Applies records of the log, in their order, and notes how far.
  ///
  /// It holds the lock of the store's writers even if no key is here: a writer that has not seen the note yet would keep an old
  /// value after the look. A transaction that changes nothing commits nothing.
  ///
  /// - Parameter keepsProgress: whether to write down how far even if no copy was concerned.
  /// - Returns: how many copies were removed; nil if the store follows another history now.
  func apply(
    _ changes: [LogRecord], _ progress: LocalState.Progress, keepsProgress: Bool
  ) async throws -> Int? {
    recent.note(changes)
    for tag in Self.tags(in: changes) { _ = try store.invalidate(tag: tag) }
    return try await store.commit { [self] batch in
      guard try state.progress(in: &batch)?.epoch == progress.epoch else { return nil }
      var removed = 0
      var shared = SharedNamespaces(self)
      for change in changes {
        switch change.subject {
        case .key(let key):
          guard let namespace = try shared.namespace(key.namespace, in: &batch) else { break }
          if try removeCopy(
            of: key.bytes, from: namespace, olderThan: change.position, in: &batch)
          {
            removed += 1
          }
        case .namespace(let name):
          guard try shared.namespace(name, in: &batch) != nil else { break }
          removed += try batch.clear(name).entries
        case .tag, .nothing: break
        }
      }
      if removed > 0 || keepsProgress { try state.set(progress, in: &batch) }
      return removed
    }
  }

  private static func tags(in changes: [LogRecord]) -> Set<String> {
    var tags: Set<String> = []
    for case .tag(let tag) in changes.lazy.map(\.subject) { tags.insert(tag) }
    return tags
  }

  /// Begins with another history of the log: no copy of the old one is used any more.
  ///
  /// A crash at any point leaves the old history, or one without a position, which is given up at the next look.
  ///
  /// - Parameters:
  ///   - known: the history that the caller gives up; nil if the store has none.
  ///   - newest: asks for the newest record, with which the new history begins.
  /// - Returns: nil if another process was faster.
  func begin(
    _ application: String, insteadOf known: UInt64?, at newest: () async throws -> LogRecord
  ) async throws -> LocalState.Progress? {
    recent.distrust()
    var progress = LocalState.Progress(
      application: application, epoch: (known ?? 0) &+ 1, position: .zero, digest: 0)
    // From this commit on no value of the old history is stored.
    let isFirst = try await store.commit { [self, progress] batch in
      guard try state.progress(in: &batch)?.epoch == known else { return false }
      try state.set(progress, in: &batch)
      return true
    }
    guard isFirst else { return nil }
    let noted = recent.changes
    let record = try await newest()
    (progress.position, progress.digest) = (record.position, record.digest)
    let names = try state.namespaces()
    return try await store.commit { [self, progress] batch -> LocalState.Progress? in
      guard try state.progress(in: &batch)?.epoch == progress.epoch else { return nil }
      for name in names { _ = try batch.clear(name) }
      try state.set(progress, in: &batch)
      recent.replace(noted, with: progress.position)
      recent.publish(applied: progress.position, head: progress.position)
      return progress
    }
  }
}

/// The namespaces with copies of the tier that one batch has looked up. The records of a batch concern few.
private struct SharedNamespaces {
  private let copies: LocalCopies
  private var latest: (name: String, namespace: Store.Namespace?)?
  private var others: [String: Store.Namespace?] = [:]

  init(_ copies: LocalCopies) { self.copies = copies }

  /// Nil for a namespace that has no copies of the tier, which the log does not change.
  mutating func namespace(
    _ name: String, in batch: inout WriteBatch
  ) throws -> Store.Namespace? {
    if let latest, latest.name == name { return latest.namespace }
    let found = try others[name] ?? lookUp(name, in: &batch)
    others[name] = .some(found)
    latest = (name, found)
    return found
  }

  private func lookUp(_ name: String, in batch: inout WriteBatch) throws -> Store.Namespace? {
    try copies.state.isNoted(name, in: &batch) ? copies.store.namespace(name) : nil
  }
}
