import Larder
import Service

extension Outbox {
  /// Sends the changes until the service cannot be reached, or knows no such credential. A change that gets no usable answer
  /// waits, and with it the later ones of its article; those of other articles are sent.
  ///
  /// One process sends at a time, so that the service gets them in their order.
  func send() async throws -> OutboxReport {
    var report = OutboxReport()
    // Without a network nobody waits for a process that sends.
    if !readeck.isDisconnected { try await sendAll(&report) }
    let all = try all()
    report.left = all.count
    let unknown = all.count { $0.edit == nil }
    if unknown > 0 {
      report.reasons.append("changes of another version of larder-articles: \(unknown)")
    }
    return report
  }

  private func sendAll(_ report: inout OutboxReport) async throws {
    let count = try edits().count
    if count == 0 { return }
    guard let lock = try await turn() else {
      if try !edits().isEmpty { report.reasons.append(Self.busy) }
      return
    }
    defer { withExtendedLifetime(lock) {} }
    var waiting: Set<String> = []
    while let (edit, result) = try await sendFirst(but: waiting) {
      do {
        report.add(try result.get(), of: edit)
      } catch {
        waiting.insert(edit.article)
        let isGone = try await isGone(error)
        if isGone, case .unreachable = error { return }
        report.reasons.append("\(edit.text): \(error)")
        report.isRefused = report.isRefused || error.refusesUser
        if isGone { return }
      }
      progress(report.sent + report.conflicts.count + waiting.count, count)
    }
  }

  static let busy =
    "others send changes now, or were stopped while they did: outbox --send tries again"

  /// The lock of those who send; nil if others have it for too long.
  ///
  /// A process that is stopped keeps its lock, and nobody can tell it from one that waits for the service.
  func turn() async throws -> StoreLock? {
    for _ in 0..<Self.mostPauses {
      do { return try StoreLock(of: storage.store, named: storage.outbox.name) } catch {
        guard error.code == .busy else { throw error }
      }
      try await readeck.service.sleep(Self.pause)
    }
    return nil
  }

  /// Together ten seconds.
  private static let (mostPauses, pause) = (200, Duration.milliseconds(50))

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

  /// Whether the service answers nothing any more, or nothing to this user.
  private func isGone(_ error: ServiceError) async throws -> Bool {
    switch error {
    case .unreachable, .throttled, .refused(status: 401, _), .refused(status: 407, _): true
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
    var isThere = false
    do {
      let (current, reply) = try await readeck.answer(for: edit.article)
      isThere = true
      var updated: String? = current.updated
      let field = edit.kind.field
      if field.map({ current.fields[$0.name] != $0.value }) ?? true {
        let isSeen = edit.base.map { ServiceTime.isSame(current.updated, $0) } ?? false
        if !isSeen, isLater(current, than: edit, in: reply) {
          return End(conflict: "the service has a later change of the article")
        }
        switch try await readeck.send(field.map { [$0.name: $0.value] }, to: edit.article) {
        case .made(let new): updated = new
        case .refused(let error): return End(conflict: "\(error)")
        }
      }
      if let updated { _ = try ifRoom { try storage.noteChange(at: updated, of: edit.article) } }
      return End(updated: updated)
    } catch let error as ServiceError where error.isMissing {
      // Nothing is dropped while the service contradicts itself, or lists nothing.
      if isThere, try await readeck.has(edit.article) { throw error }
      guard try await readeck.lists() else { throw error }
      if edit.kind == .delete { return End() }
      try await storage.remove(edit.article)
      return End(conflict: "the article was deleted")
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
    return ServiceTime.isLater(current.updated, than: "\(made)")
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
