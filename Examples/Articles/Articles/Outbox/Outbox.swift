public import Larder
import Service

/// A change that the user made and the service does not have yet.
public struct PendingEdit: Codable, Sendable, Hashable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case archive, unarchive, mark, unmark, delete

    /// The field of the bookmark and its value; nil for a deletion.
    var field: (name: String, value: JSON)? {
      switch self {
      case .archive: ("is_archived", .bool(true))
      case .unarchive: ("is_archived", .bool(false))
      case .mark: ("is_marked", .bool(true))
      case .unmark: ("is_marked", .bool(false))
      case .delete: nil
      }
    }
  }

  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The bookmark's `updated` after the user's previous change of it was sent.
  var base: String?

  /// `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}

/// The result of sending the changes.
public struct OutboxReport: Codable, Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped because the service has a later one, or refuses them.
  public var conflicts: [String] = []
  /// Changes that wait for a network.
  public var left = 0
}

/// The user's changes, stored until the service has them.
///
/// They are sent in their order. Sending one twice has the same effect as sending it once, so a process that was killed in
/// between does no harm. A later change at the service wins, and the report says so.
struct Outbox: Sendable {
  let shelf: ArticleShelf
  let readeck: Readeck

  /// All changes in their order.
  func edits() throws -> [(key: Key, edit: PendingEdit)] {
    var edits: [(key: Key, edit: PendingEdit)] = []
    try shelf.outbox.namespace.scan { entry, bytes in
      edits.append((entry.key, try JSONCodec<PendingEdit>().decode(bytes)))
      return true
    }
    return edits
  }

  /// Applies a change to the stored article, and queues it, in one transaction.
  func add(_ kind: PendingEdit.Kind, to id: String) throws {
    let known = try shelf.article(id)
    let edit = PendingEdit(
      article: id, title: known?.bookmark.name ?? id, kind: kind, made: shelf.store.now)
    var number = try edits().last.flatMap { Int($0.key.string ?? "") } ?? 0
    try shelf.store.write { batch in
      // Another process may have taken the number.
      repeat { number += 1 } while try batch.value(for: Self.key(number), in: shelf.outbox) != nil
      try batch.set(edit, for: Self.key(number), in: shelf.outbox)
      guard var notes = known?.notes else { return }
      switch kind {
      case .archive, .delete: try batch.remove(id, from: shelf.articles)
      case .unarchive, .mark, .unmark:
        guard let field = kind.field else { return }
        notes.bookmark = notes.bookmark.with(field.name, field.value)
        try batch.setMetadata(notes.encoded(), of: id, in: shelf.articles.namespace)
      }
    }
  }

  /// In the order of their numbers.
  private static func key(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 18 - digits.count)) + digits
  }

  /// Sends the changes until the service cannot be reached.
  func send() async throws -> OutboxReport {
    var report = OutboxReport()
    while let (key, edit) = try edits().first {
      do {
        let (isSent, conflict) = try await send(edit)
        if isSent { report.sent += 1 }
        if let conflict { report.conflicts.append("\(edit.text): \(conflict)") }
        try await remove(key, edit, isSent: isSent)
      } catch let error as ServiceError where error.isOffline || error.isTemporary {
        report.left = try shelf.outbox.count()
        break
      }
    }
    return report
  }

  /// Whether a change was sent, and why it was dropped if it was not.
  private func send(_ edit: PendingEdit) async throws -> (isSent: Bool, conflict: String?) {
    do {
      let current = try await readeck.bookmark(edit.article)
      if let field = edit.kind.field, current.fields[field.name] == field.value {
        return (true, nil)
      }
      if current.updated != edit.base,
        Bookmark.isLater(current.updated, than: "\(edit.made)") == true
      {
        return (false, "the service has a later change of the article")
      }
      try await readeck.send(
        edit.kind.field.map { .object([$0.name: $0.value]) }, to: edit.article)
      return (true, nil)
    } catch ServiceError.refused(status: 404, _) {
      return edit.kind == .delete ? (true, nil) : (false, "the article was deleted")
    } catch let error as ServiceError where error.isRefusal {
      if case .refused(status: 401, _) = error { throw error }
      return (false, "\(error)")
    }
  }

  /// Removes a change, and tells the next one of the same article that the service's newest version is the user's own.
  private func remove(_ key: Key, _ edit: PendingEdit, isSent: Bool) async throws {
    var next = try edits().first { $0.key != key && $0.edit.article == edit.article }
    if isSent, next != nil, edit.kind != .delete {
      next?.edit.base = try await readeck.bookmark(edit.article).updated
    }
    let last = next
    try shelf.store.write { batch in
      try batch.remove(key, from: shelf.outbox.namespace)
      if let last { try batch.set(last.edit, for: last.key, in: shelf.outbox) }
    }
  }
}
