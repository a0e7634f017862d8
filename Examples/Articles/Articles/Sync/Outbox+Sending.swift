import Larder
import Service

extension Outbox {
  /// Sends the changes until the service cannot be reached, or refuses the user. A change that gets no usable answer waits, and
  /// with it the later ones of its article; those of other articles are sent.
  ///
  /// One process sends at a time, so that the service gets them in their order. Each change has a turn of its own, so that
  /// several processes that send take turns.
  func send() async throws -> OutboxReport {
    var report = OutboxReport()
    var waiting: Set<String> = []
    let count = try edits().count
    // Without a network nobody waits for a process that sends.
    while !readeck.isDisconnected,
      let (edit, result) = try await inTurn({ [waiting] in try await sendFirst(but: waiting) })
    {
      do {
        report.add(try result.get(), of: edit)
      } catch {
        waiting.insert(edit.article)
        let isGone = try await isGone(error)
        if isGone, case .unreachable = error { break }
        report.reasons.append("\(edit.text): \(error)")
        report.isRefused = error.refusesUser
        if isGone || report.isRefused { break }
      }
      progress(report.sent + report.conflicts.count + waiting.count, count)
    }
    let all = try all()
    report.left = all.count
    let unknown = all.count { $0.edit == nil }
    if unknown > 0 {
      report.reasons.append("changes of another version of larder-articles: \(unknown)")
    }
    return report
  }

  func inTurn<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await storage.syncs.inTurn("turn of the outbox") { [storage] in
      // Among processes the turn alone is a hint: it ends after a minute, and some may then go on at once.
      let lock = try await StoreLock.awaited(of: storage.store)
      defer { withExtendedLifetime(lock) {} }
      return try await body()
    }
  }

  /// Sends the first change that is not of these articles; nil if there is none.
  private func sendFirst(
    but waiting: Set<String>
  ) async throws -> (PendingEdit, Result<String?, ServiceError>)? {
    guard let (key, edit) = try edits().first(where: { !waiting.contains($0.edit.article) })
    else { return nil }
    do {
      let end = try await send(edit)
      if end.conflict == nil { try await noteSent(edit) }
      try await remove(key, edit, end)
      return (edit, .success(end.conflict))
    } catch let error as ServiceError {
      return (edit, .failure(error))
    }
  }

  /// Whether the service answers nothing any more.
  private func isGone(_ error: ServiceError) async throws -> Bool {
    switch error {
    case .unreachable, .throttled: true
    case .interrupted: try await !readeck.answers()
    default: false
    }
  }

  /// How the sending of a change ended.
  struct End: Sendable {
    /// Why it was dropped; nil if the service has it.
    var conflict: String?
    /// The article's `updated` with the change; nil for a deleted one.
    var updated: String?
  }

  /// Sends a change, unless others have changed the article later.
  ///
  /// An article whose `updated` is the one that the user has seen, or that of the user's own last change, was not changed by
  /// others. Of the user's change and one of others the later one wins; see ``isLater(_:than:in:)``.
  func send(_ edit: PendingEdit) async throws -> End {
    var isReadable = false
    do {
      let (current, reply) = try await readeck.answer(for: edit.article)
      isReadable = true
      var updated: String? = current.updated
      let field = edit.kind.field
      if field.map({ current.fields[$0.name] != $0.value }) ?? true {
        if current.updated != edit.base, isLater(current, than: edit, in: reply) {
          return End(conflict: "the service has a later change of the article")
        }
        updated = try await readeck.send(field.map { [$0.name: $0.value] }, to: edit.article)
      }
      if let updated { _ = try ifRoom { try storage.noteChange(at: updated, of: edit.article) } }
      return End(updated: updated)
    } catch let error as ServiceError where error.isMissing {
      guard try await readeck.lists() else { throw error }
      if edit.kind == .delete { return End() }
      try await storage.remove(edit.article)
      return End(conflict: "the article was deleted")
    } catch let error as ServiceError
      where error.isRefusal && !error.isTemporary && isReadable && !error.refusesUser
    {
      return End(conflict: "\(error)")
    }
  }

  /// Whether a change of others, with which the service has just answered, is later than the user's.
  ///
  /// The service's clock decides. The time of the user's change is shifted by the difference between both clocks, which the
  /// answer's `Date` shows. Its fraction of a second is not known: a change of others in the same second wins. Without a `Date`
  /// nobody knows which one is later, and that of others wins.
  private func isLater(_ current: Bookmark, than edit: PendingEdit, in reply: Reply) -> Bool {
    let now = storage.store.now
    guard let date = reply.date(at: now) else { return true }
    let made = edit.made.advanced(by: now.duration(to: date))
    return Bookmark.isLater(current.updated, than: "\(made)") ?? false
  }

  /// Removes a change, and tells the next one of the same article that the service's newest version is the user's own.
  private func remove(_ key: Key, _ edit: PendingEdit, _ end: End) async throws {
    // The next sync takes the service's version in place of a dropped change.
    if end.conflict != nil { try await storage.refetch(edit.article) }
    let next = try edits().first { $0.key != key && $0.edit.article == edit.article }
    try storage.store.write { batch in
      try batch.remove(key, from: storage.outbox.namespace)
      guard end.conflict == nil, var next else { return }
      next.edit.base = end.updated
      try batch.set(next.edit, for: next.key, in: storage.outbox)
    }
  }
}

extension ServiceError {
  /// Whether there is no such thing.
  var isMissing: Bool {
    if case .refused(status: 404, _) = self { true } else { false }
  }

  /// Whether the credential is not valid.
  fileprivate var refusesUser: Bool {
    if case .refused(let status, _) = self { [401, 407].contains(status) } else { false }
  }
}
