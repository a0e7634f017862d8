import Larder
import LarderSystem

/// Changes of other machines, as the log tells of them.
extension LocalCopies {
  /// Applies records of the log, in their order, and notes how far.
  ///
  /// - Parameter keepsProgress: whether to write down how far even if no copy was concerned.
  /// - Returns: how many copies were removed; nil if the store follows another history now.
  func apply(
    _ changes: [LogRecord], _ progress: LocalState.Progress, keepsProgress: Bool
  ) async throws -> Int? {
    recent.note(changes)
    for tag in Self.tags(in: changes) { try await store.invalidateInSteps(tag: tag.string) }
    // The lock of the store's writers is needed even if no key is here: a writer that has looked before the note may still
    // commit an old value. A transaction that changes nothing commits nothing.
    return try await store.commit { [self] batch in
      guard try state.progress(in: &batch)?.epoch == progress.epoch else { return nil }
      var removed = 0
      for change in try changesOfCopies(changes) {
        switch change.subject {
        case .key(let key):
          if try removeCopy(of: key, olderThan: change.position, in: &batch) { removed += 1 }
        case .namespace(let name): removed += try batch.clear(store.namespace(name)).entries
        case .tag, .nothing: break
        }
      }
      if removed > 0 || keepsProgress { try state.set(progress, in: &batch) }
      return removed
    }
  }

  /// The changes of keys and namespaces that the last commit has copies of.
  ///
  /// A lookup in a snapshot costs less than one in a write. The write itself has no other copies: writes that share its
  /// transaction began after the note.
  private func changesOfCopies(_ changes: [LogRecord]) throws -> [LogRecord] {
    try store.read { snapshot in
      var found: [LogRecord] = []
      var known: [ExactString: Bool] = [:]
      var index = 0
      while index < changes.count {
        guard let name = changes[index].namespace.map(ExactString.init) else {
          index += 1
          continue
        }
        let isShared = try known[name] ?? state.isNoted(name.string, in: snapshot)
        known[name] = isShared
        let namespace = store.namespace(name.string)
        // The records of one namespace often follow each other.
        while index < changes.count, changes[index].namespace.map(ExactString.init) == name {
          if isShared, try changes[index].concerns(namespace, in: snapshot) {
            found.append(changes[index])
          }
          index += 1
        }
      }
      return found
    }
  }

  private static func tags(in changes: [LogRecord]) -> Set<ExactString> {
    var tags: Set<ExactString> = []
    for case .tag(let tag) in changes.lazy.map(\.subject) { tags.insert(ExactString(tag)) }
    return tags
  }

  /// Begins with another history of the log: no copy of the old one is used any more.
  ///
  /// A crash at any point leaves the old history, or a history without a position, which is given up at the next look.
  ///
  /// - Parameters:
  ///   - known: the history that the caller gives up; nil if the store has none.
  ///   - newest: asks for the newest record, with which the new history begins.
  /// - Returns: nil if another process was faster.
  func begin(
    _ application: String, insteadOf known: UInt64?, at newest: () async throws -> LogRecord
  ) async throws -> LocalState.Progress? {
    recent.revokeTrust()
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
      for name in names { _ = try batch.clear(store.namespace(name)) }
      try state.set(progress, in: &batch)
      recent.replace(noted, with: progress.position)
      recent.publish(applied: progress.position, head: progress.position)
      return progress
    }
  }
}

extension LogRecord {
  /// The namespace that a change of a key or of a whole namespace concerns.
  fileprivate var namespace: String? {
    switch subject {
    case .key(let key): key.namespace
    case .namespace(let name): name
    case .tag, .nothing: nil
    }
  }

  /// Whether the change concerns the namespace: its key is stored there, or it is a change of the whole namespace.
  fileprivate func concerns(
    _ namespace: Store.Namespace, in snapshot: borrowing Snapshot
  ) throws -> Bool {
    guard case .key(let key) = subject else { return true }
    return try snapshot.hasEntry(key.bytes, in: namespace)
  }
}
