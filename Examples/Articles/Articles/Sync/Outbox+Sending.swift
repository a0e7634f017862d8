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
    while let (edit, result) = try await inTurn({ [waiting] in try await sendFirst(but: waiting) })
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
      let conflict = try await send(edit)
      if conflict == nil { try noteSent(edit) }
      try await remove(key, edit, isSent: conflict == nil)
      return (edit, .success(conflict))
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

  /// Why a change was dropped; nil if it was sent.
  func send(_ edit: PendingEdit) async throws -> String? {
    var isReadable = false
    do {
      let current = try await readeck.bookmark(edit.article)
      isReadable = true
      if let field = edit.kind.field, current.fields[field.name] == field.value { return nil }
      if current.updated != edit.base,
        Bookmark.isLater(current.updated, than: "\(edit.made)") == true
      {
        return "the service has a later change of the article"
      }
      let fields = edit.kind.field.map { JSON.object([$0.name: $0.value]) }
      if let updated = try await readeck.send(fields, to: edit.article) {
        _ = try ifRoom { try storage.noteChange(at: updated, of: edit.article) }
      }
      return nil
    } catch let error as ServiceError where error.isMissing {
      if edit.kind == .delete { return nil }
      try storage.remove(edit.article)
      return "the article was deleted"
    } catch let error as ServiceError
      where error.isRefusal && !error.isTemporary && isReadable && !error.refusesUser
    {
      return "\(error)"
    }
  }

  /// Removes a change, and tells the next one of the same article that the service's newest version is the user's own.
  private func remove(_ key: Key, _ edit: PendingEdit, isSent: Bool) async throws {
    var next = try edits().first { $0.key != key && $0.edit.article == edit.article }
    if isSent, next != nil, edit.kind != .delete {
      next?.edit.base = try await readeck.bookmark(edit.article).updated
    }
    let last = next
    try storage.store.write { batch in
      try batch.remove(key, from: storage.outbox.namespace)
      if let last { try batch.set(last.edit, for: last.key, in: storage.outbox) }
    }
    // The next sync takes the service's version in place of the dropped change.
    if !isSent { try storage.refetch(edit.article) }
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
