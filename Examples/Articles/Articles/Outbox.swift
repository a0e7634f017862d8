public import Larder
import LarderHTTP
import Service
import Synchronization

/// A change by the user. It stays for a while after it was sent.
public struct PendingEdit: Codable, Sendable, Hashable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case archive, unarchive, mark, unmark, read, unread, delete

    /// The field of the bookmark and its value; nil for a deletion.
    var field: (name: String, value: JSON)? {
      switch self {
      case .archive: ("is_archived", .bool(true))
      case .unarchive: ("is_archived", .bool(false))
      case .mark: ("is_marked", .bool(true))
      case .unmark: ("is_marked", .bool(false))
      // In percent. A read article stays in the list of unread articles until it is archived.
      case .read: ("read_progress", .number(100))
      case .unread: ("read_progress", .number(0))
      case .delete: nil
      }
    }
  }

  /// The place in the order of all changes, and the key of the entry.
  var number: Int
  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The `updated` of the bookmark that the user saw before the change; after the sending, the `updated` with the change.
  var base: String
  /// When the change was sent; nil if the service does not have the change yet.
  var sent: Timestamp?

  var key: String { "\(number)" }
  /// `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}

public struct OutboxReport: Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped because the service has a later change, or refuses them.
  public var conflicts: [String] = []
  /// Changes that wait for a network, or for a usable answer.
  public var left = 0
  /// Why changes wait although the service answered.
  public var reasons: [String] = []
  public var isRefused = false
}

/// The user sees an article as the service's answer, plus the changes that this answer lacks.
extension [PendingEdit] {
  /// An article as the user sees it; nil if the user has deleted or archived it.
  ///
  /// - Parameter requested: the time before the bookmark was requested.
  func applied(to bookmark: Bookmark, since requested: Timestamp) -> Bookmark? {
    var seen = bookmark
    for edit in changes(of: bookmark.id, since: requested) {
      guard let field = edit.kind.field else { return nil }
      seen.fields[field.name] = field.value
    }
    return seen.isArchived && !bookmark.isArchived ? nil : seen
  }

  /// The changes of an article that the answer to the request may lack.
  func changes(of id: String, since requested: Timestamp) -> [PendingEdit] {
    filter { $0.article == id && $0.sent.map { $0 >= requested } ?? true }
  }
}

/// The user's changes, stored until the service has them, and sent in their order. A change that is sent twice, as after a kill,
/// has the effect of one change. A later change at the service wins, and the report says so.
extension ArticleReader {
  /// Changes an article here at once, and at the service as soon as the service can be reached. Asks the service about an
  /// article that is not known here.
  public func edit(_ id: String, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    let edits = try edits()
    let earlier = edits.last { $0.article == id }
    var bookmark = try storedArticle(id)?.bookmark
    if bookmark == nil, earlier == nil { bookmark = try await readeck.bookmark(id).value }
    var edit = PendingEdit(
      number: edits.last?.number ?? 1_000_000_000_000, article: id,
      title: earlier?.title ?? bookmark?.name ?? id, kind: kind, made: store.now,
      base: bookmark?.updated ?? earlier?.base ?? "")
    try store.write { batch in
      // Another process may have taken the number.
      repeat {
        edit.number += 1
      } while try batch.entry(for: edit.key, in: outbox.namespace) != nil
      try batch.set(edit, for: edit.key, in: outbox)
    }
    return try await sendEdits()
  }

  /// The changes in their order. Leaves out a change that another version of this program made and this version cannot decode.
  func edits() throws -> [PendingEdit] {
    var edits: [PendingEdit] = []
    try outbox.entries().visit { edits.append($1) }
    return edits
  }

  /// The changes that the service does not have yet, in their order.
  public func pendingEdits() throws -> [PendingEdit] { try edits().filter { $0.sent == nil } }

  /// Sends the changes until the service is unreachable, throttles requests, or refuses the credential. A change without a
  /// usable answer waits, with the later changes of its article. One process sends at a time.
  public func sendEdits() async throws -> OutboxReport {
    let sent = Mutex<OutboxReport?>(nil)
    // Without a network, a caller does not wait for a process that sends.
    while try !pendingEdits().isEmpty, !readeck.isDisconnected, sent.withLock({ $0 == nil }) {
      // The turn is the lease of a load that never has a value. Another task of this process may have the turn.
      _ = try await syncs.result(for: "outbox") { [self] _ in
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
    while var edit = try pendingEdits().first(where: { !waiting.contains($0.article) }) {
      do {
        if let conflict = try await send(&edit) {
          report.conflicts.append("\(edit.text): \(conflict)")
          try await outbox.remove(edit.key)
        } else {
          report.sent += 1
          edit.sent = store.now
          // The change stays until the article has been fetched again.
          let kept: Void? = try await ifRoom { [edit] in
            try await outbox.set(edit, for: edit.key, expires: .after(.days(30)))
          }
          if kept == nil { try await outbox.remove(edit.key) }
        }
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

  /// Sends a change. Returns why the change must be dropped; nil if the service has it.
  private func send(_ edit: inout PendingEdit) async throws -> String? {
    let article = edit.article
    let own = try edits().last { $0.article == article && $0.sent != nil }
    for isSent in [false, true] {
      let (current, reply): (Bookmark, Reply)
      do {
        (current, reply) = try await readeck.bookmark(article)
      } catch let error as ServiceError where error.status == 404 {
        // The article counts as deleted only if the service lists articles.
        guard await readeck.lists() else { throw error }
        try await articles.remove(article)
        return edit.kind == .delete ? nil : "the article was deleted"
      }
      // The service may have the change from now, or from before a kill.
      if let field = edit.kind.field, current.fields[field.name] == field.value {
        edit.base = current.updated
        return nil
      }
      if isSent { break }
      // Others have changed nothing if the date is the date that the user has seen, or that of the user's own last change.
      let isSeen = [edit.base, own?.base].contains(current.updated)
      if !isSeen, isLater(current, than: edit, in: reply) {
        return "the service has a later change of the article"
      }
      do {
        try await readeck.change(article, edit.kind.field.map { [$0.name: $0.value] })
      } catch let error as ServiceError where error.isRefusal && error.status != 404 {
        if error.refusesReader { throw error }
        return "\(error)"
      }
    }
    throw ServiceError.undecodable(path: article, reason: "it does not have the change")
  }

  /// Whether a change of others is later than the user's change, by the service's clock: the answer's `Date` shows how far both
  /// clocks differ. A change of others wins if it is in the same second, or if a time is unknown.
  private func isLater(_ current: Bookmark, than edit: PendingEdit, in reply: Reply) -> Bool {
    let now = store.now
    guard let date = reply.date(at: now), let changed = current.changed else { return true }
    return changed.advanced(by: .seconds(1)) > edit.made.advanced(by: now.duration(to: date))
  }
}
