public import Larder
import Service
import Synchronization

/// A change by the user. The change stays in the store for a while after it was sent.
public struct PendingEdit: Codable, Sendable, Hashable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case archive, unarchive, mark, unmark, read, unread, delete

    /// The field of the bookmark that changes, with its new value; nil if the bookmark is deleted.
    var field: (name: String, value: JSON)? {
      switch self {
      case .archive: ("is_archived", .bool(true))
      case .unarchive: ("is_archived", .bool(false))
      case .mark: ("is_marked", .bool(true))
      case .unmark: ("is_marked", .bool(false))
      // The value is a percentage. Also with 100 percent, the service lists the article as unread until the user archives it.
      case .read: ("read_progress", .number(100))
      case .unread: ("read_progress", .number(0))
      case .delete: nil
      }
    }
  }

  /// The number of the change, which gives the order of all changes. The number is also the key of the entry.
  var number: Int
  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The `updated` of the bookmark that the user saw. After the change was sent, the `updated` that includes the change.
  var base: String
  /// The time at which the change was sent; nil if the service does not have the change yet.
  var sent: Timestamp?

  var key: String { "\(number)" }
  /// A text such as `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}

public struct OutboxReport: Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped, because the service has a later change or refuses the user's change.
  public var conflicts: [String] = []
  /// The number of changes that still wait for a network, or for a usable answer of the service.
  public var left = 0
  /// Why changes still wait, although the service answered.
  public var reasons: [String] = []
}

/// The user sees an article as the service sent it, with the changes that the service did not have at that time.
extension [PendingEdit] {
  /// An article as the user sees it. Nil if the user has deleted or archived the article.
  ///
  /// - Parameter requested: The time just before the request for the bookmark.
  func applied(to bookmark: Bookmark, since requested: Timestamp) -> Bookmark? {
    var seen = bookmark
    for edit in changes(of: bookmark.id, since: requested) {
      guard let field = edit.kind.field else { return nil }
      seen.fields[field.name] = field.value
    }
    return seen.isArchived && !bookmark.isArchived ? nil : seen
  }

  /// The changes of an article that are possibly not in the answer to the request.
  func changes(of id: String, since requested: Timestamp) -> [PendingEdit] {
    filter { $0.article == id && $0.sent.map { $0 >= requested } ?? true }
  }
}

/// The user's changes. Changes are stored until the service has them, and are sent in their order. After a kill, the next process
/// may send a change again, which has no further effect. A later change at the service wins, and the report says so.
extension ArticleReader {
  /// Changes an article, for the user immediately, and at the service as soon as the service can be reached. If this store does
  /// not know the article, first asks the service for the article.
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
      // Another process may have used this number for its change, so the loop looks for a free number.
      repeat {
        edit.number += 1
      } while try batch.entry(for: edit.key, in: outbox.namespace) != nil
      try batch.set(edit, for: edit.key, in: outbox)
    }
    return try await sendEdits()
  }

  /// The changes in their order. Omits changes that another version of this program wrote and this version cannot decode.
  func edits() throws -> [PendingEdit] {
    var edits: [PendingEdit] = []
    try outbox.entries().visit { edits.append($1) }
    return edits
  }

  /// The changes that the service does not have yet, in their order.
  public func pendingEdits() throws -> [PendingEdit] { try edits().filter { $0.sent == nil } }

  /// Sends the changes. Stops if the service is unreachable, throttles requests, or refuses the user. If a change gets no
  /// usable answer, this change and the later changes of its article wait. Only one process sends at a time.
  public func sendEdits() async throws -> OutboxReport {
    let sent = Mutex<OutboxReport?>(nil)
    while try !pendingEdits().isEmpty, sent.withLock({ $0 == nil }) {
      // Only the holder of this load's lease sends. If another task did the load, this task asks again while changes are left.
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
          // An old answer may lack the change, so the change stays until the article has been fetched again.
          let kept: Void? = try await unless(.full) { [edit] in
            try store.write { batch in
              // A sign-out may have removed the change meanwhile. In this case the change must not come back.
              guard try batch.entry(for: edit.key, in: outbox.namespace) != nil else { return }
              try batch.set(edit, for: edit.key, in: outbox, expires: .after(.days(30)))
            }
          }
          if kept == nil { try await outbox.remove(edit.key) }
        }
      } catch let error as ServiceError {
        waiting.insert(edit.article)
        if !error.isOffline { report.reasons.append("\(edit.text): \(error)") }
        if await isFinal(error) { break }
      }
    }
    return report
  }

  /// Sends a change. Returns the reason if the change must be dropped, or nil if the service has the change.
  private func send(_ edit: inout PendingEdit) async throws -> String? {
    let article = edit.article
    let own = try edits().last { $0.article == article && $0.sent != nil }
    for isSent in [false, true] {
      let (current, reply): (Bookmark, Reply)
      do {
        (current, reply) = try await readeck.bookmark(article)
      } catch let error as ServiceError where error.status == 404 {
        // A 404 may come from a proxy. So the article only counts as deleted if the service can list articles.
        guard await readeck.lists() else { throw error }
        try await articles.remove(article)
        return edit.kind == .delete ? nil : "the article was deleted"
      }
      // The service has the change: this loop has sent it, or a process sent it and was killed before it could record this.
      if let field = edit.kind.field, current.fields[field.name] == field.value {
        edit.base = current.updated
        return nil
      }
      if isSent { break }
      // If `updated` is as the user saw it, or as the user's own last change left it, nobody else has changed the article.
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

  /// Whether a change by others is later than the user's change, by the clock of the service. The `Date` of the answer shows
  /// how far the clocks differ. If both changes were in the same second, or a time is unknown, the change by others wins.
  private func isLater(_ current: Bookmark, than edit: PendingEdit, in reply: Reply) -> Bool {
    let now = store.now
    guard let date = reply.date(at: now), let changed = current.changed else { return true }
    return changed.advanced(by: .seconds(1)) > edit.made.advanced(by: now.duration(to: date))
  }
}
