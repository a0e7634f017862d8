import Larder
import LarderHTTP
import Service
import Synchronization

/// The user's changes, stored until the service has them.
///
/// They are sent in their order. A change that is sent twice has the effect of one change, so a kill of the process meanwhile
/// does no harm. A later change at the service wins, and the report says so.
extension ArticleReader {
  /// Changes an article here at once, and at the service as soon as the service can be reached. The report says whether the
  /// change was sent. Asks the service about an article that is not known here.
  public func edit(_ id: String, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    let earlier = try edits().all.last { $0.edit.article == id }?.edit
    var bookmark = try storage.article(id)?.bookmark
    if bookmark == nil, earlier == nil { bookmark = try await readeck.bookmark(id).value }
    let edit = PendingEdit(
      article: id, title: earlier?.title ?? bookmark?.name ?? id, kind: kind,
      made: storage.store.now, base: bookmark?.updated ?? earlier?.base ?? "")
    var number = try edits().all.last.flatMap { Int($0.key.string ?? "") } ?? 1_000_000_000_000
    try storage.store.write { batch in
      let outbox = storage.outbox
      // Another process may have taken the number of the key.
      repeat { number += 1 } while try batch.entry(for: "\(number)", in: outbox.namespace) != nil
      try batch.set(edit, for: "\(number)", in: outbox)
    }
    return try await sendEdits()
  }

  /// The changes in their order. Leaves out a change that another version of this program made and this version cannot decode.
  func edits() throws -> Edits {
    var edits = Edits()
    try storage.outbox.entries().visit { edits.all.append(($0, $1)) }
    return edits
  }

  /// The changes that the service does not have yet, in their order.
  public func pendingEdits() throws -> [PendingEdit] {
    try edits().all.map(\.edit).filter { $0.sent == nil }
  }

  /// Sends the changes until the service is unreachable, throttles requests, or refuses the credential. A change without a
  /// usable answer waits, and so do later changes of its article; the changes of other articles are sent.
  ///
  /// One process sends at a time, so the service gets the changes in their order.
  public func sendEdits() async throws -> OutboxReport {
    let sent = Mutex<OutboxReport?>(nil)
    // Without a network, a caller does not wait for a process that sends.
    while try !pendingEdits().isEmpty, !readeck.isDisconnected, sent.withLock({ $0 == nil }) {
      // The turn is the lease of a load that never has a value. Another task of this process may have the turn.
      _ = try await storage.syncs.result(for: "outbox") { [self] _ in
        let report = try await sendAll()
        sent.withLock { $0 = report }
        return .absent
      }
    }
    var report = sent.withLock { $0 } ?? OutboxReport()
    report.left = try pendingEdits().count
    return report
  }

  private func sendAll() async throws -> OutboxReport {
    var (report, waiting) = (OutboxReport(), Set<String>())
    while let (key, edit) = try edits().all.first(where: {
      $0.edit.sent == nil && !waiting.contains($0.edit.article)
    }) {
      do {
        let conflict = try await send(edit, key)
        if let conflict { report.conflicts.append("\(edit.text): \(conflict)") }
        report.sent += conflict == nil ? 1 : 0
      } catch let error as ServiceError {
        waiting.insert(edit.article)
        if case .failed(.offline, _) = error { break }
        report.reasons.append("\(edit.text): \(error)")
        report.isRefused = report.isRefused || error.refusesReader
        if [401, 407, 429].contains(error.status) { break }
        if case .failed(.interrupted, _) = error, await !readeck.lists() { break }
      }
    }
    return report
  }

  /// Sends a change, unless others have changed the article later. Returns why the change was dropped, or nil if the service
  /// has it.
  private func send(_ edit: PendingEdit, _ key: Key) async throws -> String? {
    let own = try edits().all.last { $0.edit.article == edit.article && $0.edit.sent != nil }
    for isSent in [false, true] {
      let (current, reply): (Bookmark, Reply)
      do {
        (current, reply) = try await readeck.bookmark(edit.article)
      } catch let error as ServiceError where error.status == 404 {
        // The article counts as deleted only if the service lists articles.
        guard await readeck.lists() else { throw error }
        try await storage.articles.remove(edit.article)
        if edit.kind == .delete { return try await keep(edit, key, edit.base) }
        try await storage.outbox.remove(key)
        return "the article was deleted"
      }
      // Does not send a change that the service already has, from now or from before a kill.
      if let field = edit.kind.field, current.fields[field.name] == field.value {
        return try await keep(edit, key, current.updated)
      }
      if isSent { break }
      // The article has no change of others if its date is the date that the user has seen, or the date of the user's own last
      // change.
      let isSeen = [edit.base, own?.edit.updated].contains(current.updated)
      var conflict = "the service has a later change of the article"
      if isSeen || !isLater(current, than: edit, in: reply) {
        do {
          try await readeck.change(edit.article, edit.kind.field.map { [$0.name: $0.value] })
          continue
        } catch let error as ServiceError {
          guard error.isRefusal, error.status != 404, !error.refusesReader else { throw error }
          conflict = "\(error)"
        }
      }
      try await storage.outbox.remove(key)
      return conflict
    }
    throw ServiceError.undecodable(path: edit.article, reason: "it does not have the change")
  }

  /// Keeps a sent change until the article has been fetched again.
  private func keep(_ edit: PendingEdit, _ key: Key, _ updated: String) async throws -> String? {
    var edit = edit
    (edit.sent, edit.updated) = (storage.store.now, updated)
    let kept: Void? = try await ifRoom {
      try await storage.outbox.set(edit, for: key, expires: .after(.days(30)))
    }
    if kept == nil { try await storage.outbox.remove(key) }
    return nil
  }

  /// Whether a change of others, which the service has just returned, is later than the user's change. The later change
  /// wins.
  ///
  /// The service's clock decides. The difference between both clocks, known from the answer's `Date`, shifts the time of the
  /// user's change. A change of others wins if it is in the same second, or if a time is unknown.
  private func isLater(_ current: Bookmark, than edit: PendingEdit, in reply: Reply) -> Bool {
    let now = storage.store.now
    guard let date = reply.date(at: now), let changed = current.changed else { return true }
    return changed.advanced(by: .seconds(1)) > edit.made.advanced(by: now.duration(to: date))
  }
}
