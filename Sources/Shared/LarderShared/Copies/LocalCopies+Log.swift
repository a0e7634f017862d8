import Larder
import LarderSystem

extension LocalCopies {
  /// Applies records of the log in order. Stores the progress if a record concerned a copy, or if `keepsProgress` is true.
  ///
  /// - Returns: the number of removed copies, except copies that a tag removed; nil if the store now follows another history.
  func apply(
    _ changes: [LogRecord], _ progress: LocalState.Progress, keepsProgress: Bool
  ) async throws -> Int? {
    for change in changes { recent.note(change.subject, at: change.position) }
    var tags: Set<ExactString> = []
    // No entry has a tag that the store refuses, so the record of such a tag concerns no copy.
    for case .tag(let tag) in changes.lazy.map(\.subject)
    where (try? EntryAttributes.validated(tag)) != nil { tags.insert(ExactString(tag)) }
    for tag in tags { try await store.invalidateInSteps(tag: tag.string) }
    // This commit takes the writer lock even if the store has none of the keys. So the commit waits for a writer that looked at
    // `recent` before the calls of `note` and may still commit an old value. A transaction without changes commits nothing.
    return try await store.commit { [self] batch in
      guard try state.progress(in: &batch)?.epoch == progress.epoch else { return nil }
      var removed = 0
      for change in try changesOfCopies(changes) {
        removed += try removeCopies(of: change.subject, olderThan: change.position, in: &batch)
      }
      if removed > 0 || keepsProgress { try state.set(progress, in: &batch) }
      return removed
    }
  }

  /// The changes of keys and namespaces that may concern copies in the last commit. A snapshot is used, because a lookup in a
  /// write takes longer. Later copies cannot be concerned, because their writes began after the changes were noted.
  private func changesOfCopies(_ changes: [LogRecord]) throws -> [LogRecord] {
    // Many records name the same namespace, so each namespace is looked up once. Nil: the namespace has no copies.
    var known: [ExactString: Store.Namespace?] = [:]
    func noted(_ name: String) throws -> Store.Namespace? {
      if let namespace = known[ExactString(name)] { return namespace }
      let namespace = try state.isNoted(name) ? store.namespace(name) : nil
      known.updateValue(namespace, forKey: ExactString(name))
      return namespace
    }
    return try store.read { snapshot in
      var found: [LogRecord] = []
      for change in changes {
        switch change.subject {
        case .key(let key):
          guard let namespace = try noted(key.namespace),
            try snapshot.entry(for: key.bytes, in: namespace) != nil
          else { continue }
        case .namespace(let name): if try noted(name) == nil { continue }
        case .tag, .nothing: continue
        }
        found.append(change)
      }
      return found
    }
  }

  /// Begins with another history of the log at the `newest` record, and removes the copies of the `known` history.
  ///
  /// A crash leaves the old history, or a history without a position. In both cases the next reader begins another history.
  ///
  /// - Returns: the progress in the new history; nil if another process has already begun with another history.
  func begin(
    _ application: String, insteadOf known: UInt64?, at newest: () async throws -> LogRecord
  ) async throws -> LocalState.Progress? {
    recent.revokeTrust()
    // If the progress was lost, a random number differs from the lost number, which tickets may still have.
    var progress = LocalState.Progress(
      application: application, epoch: (known ?? .random(in: 0 ... .max)) &+ 1, position: .zero,
      digest: 0)
    // After this commit no process can store a value of the old history any more, because the value's ticket is invalid.
    let isFirst = try await store.commit { [self, progress] batch in
      guard try state.progress(in: &batch)?.epoch == known else { return false }
      try state.set(progress, in: &batch)
      // The position is published first: a ticket of the new history must not have a position of the old history.
      recent.publish(applied: .zero, head: .zero)
      return true
    }
    guard isFirst else { return nil }
    let noted = recent.changes
    let record = try await newest()
    (progress.position, progress.digest) = (record.position, record.digest)
    // A namespace whose first copy shares this transaction is missing in `namespaces()`. So the next transaction clears them all.
    try await store.commit { [self, progress] batch in
      if try state.progress(in: &batch)?.epoch == progress.epoch {
        recent.replace(noted, with: progress.position)
      }
    }
    return try await store.commit { [self, progress] batch -> LocalState.Progress? in
      guard try state.progress(in: &batch)?.epoch == progress.epoch else { return nil }
      for name in try state.namespaces() { _ = try batch.clear(store.namespace(name)) }
      try state.set(progress, in: &batch)
      recent.publish(applied: progress.position, head: progress.position)
      return progress
    }
  }
}
