import Larder
import Service

/// The user's changes, stored until the service has them.
///
/// They are sent in their order. Sending one twice has the same effect as sending it once, so a process that was killed in
/// between does no harm. A later change at the service wins, and the report says so.
struct Outbox: Sendable {
  let storage: ArticleStore
  let readeck: Readeck
  /// Called after each change while several are sent.
  var progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }

  /// All changes in their order; nil for one that another version of this program has made.
  func all() throws -> [(key: Key, edit: PendingEdit?)] {
    var edits: [(key: Key, edit: PendingEdit?)] = []
    try storage.outbox.namespace.scan { entry, bytes in
      edits.append((entry.key, Self.decoded(bytes)))
      return true
    }
    return edits
  }

  private static func decoded(_ bytes: Span<UInt8>) -> PendingEdit? {
    do { return try JSONCodec<PendingEdit>().decode(bytes) } catch { return nil }
  }

  /// Those of them that this version can send.
  func edits() throws -> [(key: Key, edit: PendingEdit)] {
    try all().compactMap { key, edit in edit.map { (key, $0) } }
  }

  /// Makes a change, queues it, and sends all. Without room in the queue it is sent after the others, or fails.
  func edit(_ id: String, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    let known = try await known(id)
    let edit = PendingEdit(
      article: id, title: known?.name ?? id, kind: kind, made: storage.store.now,
      base: try storage.article(id)?.notes.ownChange ?? known?.updated)
    do {
      try add(edit)
    } catch let full as LarderError where full.code == .full {
      // Those in the queue come first.
      var report = try await send()
      guard report.left == 0 else { throw full }
      do {
        guard let lock = try await turn() else { throw full }
        defer { withExtendedLifetime(lock) {} }
        let conflict = try await send(edit).conflict
        report.add(conflict, of: edit)
        if conflict == nil {
          try await noteSent(edit)
          _ = try ifRoom { try storage.store.write { try apply(edit, in: &$0) } }
        }
      } catch let error as ServiceError where error.isOffline || error.isTemporary {
        throw full
      }
      return report
    }
    return try await send()
  }

  /// The article as it is known here, or else at the service; nil if only changes of it are known.
  private func known(_ id: String) async throws -> Bookmark? {
    if let stored = try storage.article(id) { return stored.bookmark }
    if try edits().contains(where: { $0.edit.article == id }) { return nil }
    do {
      return try await readeck.bookmark(id)
    } catch let error as ServiceError where error.isMissing {
      throw ArticlesError.unknown(id, reason: "\(error)")
    }
  }

  /// Applies a change to the stored article, and queues it, in one transaction.
  private func add(_ edit: PendingEdit) throws {
    var number = try all().last.flatMap { Int($0.key.string ?? "") } ?? 0
    try storage.store.write { batch in
      // Another process may have taken the number.
      repeat {
        number += 1
      } while try batch.entry(
        for: Self.key(number), in: storage.outbox.namespace) != nil
      try batch.set(edit, for: Self.key(number), in: storage.outbox)
      try apply(edit, in: &batch)
    }
  }

  /// Keeps a change that was sent for the syncs that have fetched their list before.
  func noteSent(_ edit: PendingEdit) async throws {
    let key = "\(edit.article) \(edit.kind.field?.name ?? "")"
    _ = try await ifRoomSuspending { try await storage.sent.set(edit, for: key) }
  }

  /// The changes that a list requested at `began` may lack: those that were sent since, and those that wait.
  func edits(since began: Timestamp) throws -> [PendingEdit] {
    // First, because a change is noted as sent before it leaves the queue.
    let waiting = try edits().map(\.edit)
    var sent: [PendingEdit] = []
    try storage.sent.namespace.scan { entry, bytes in
      if entry.written > began, let edit = Self.decoded(bytes) { sent.append(edit) }
      return true
    }
    return sent + waiting
  }

  /// Applies the changes that were made to an article while it was fetched, or before.
  func apply(to id: String, since began: Timestamp) throws {
    let edits = try edits(since: began).filter { $0.article == id }
    if edits.isEmpty { return }
    try storage.store.write { batch in
      for edit in edits { try apply(edit, in: &batch) }
    }
  }

  /// The articles that such changes archive or delete: they are gone for the user.
  func hidden(since began: Timestamp) throws -> Set<String> {
    var hidden: Set<String> = []
    for edit in try edits(since: began) {
      switch edit.kind {
      case .archive, .delete: hidden.insert(edit.article)
      case .unarchive: hidden.remove(edit.article)
      case .mark, .unmark, .read, .unread: break
      }
    }
    return hidden
  }

  private func apply(_ edit: PendingEdit, in batch: inout WriteBatch) throws {
    let articles = storage.articles.namespace
    guard
      var notes = try batch.entry(for: edit.article, in: articles).flatMap(StoredArticle.init)?
        .notes
    else { return }
    switch edit.kind {
    case .archive, .delete: try batch.remove(edit.article, from: articles)
    case .unarchive, .mark, .unmark, .read, .unread:
      guard let field = edit.kind.field else { return }
      notes.bookmark = notes.bookmark.with(field.name, field.value)
      try batch.setMetadata(notes.encoded(), of: edit.article, in: articles)
    }
  }

  /// In the order of their numbers.
  private static func key(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 18 - digits.count)) + digits
  }

  /// Drops the changes of an article that wait; returns their number.
  func drop(_ id: String) async throws -> Int {
    try await storage.refetch(id)
    let keys = try edits().filter { $0.edit.article == id }.map(\.key)
    try storage.store.write { batch in
      for key in keys { try batch.remove(key, from: storage.outbox.namespace) }
    }
    return keys.count
  }
}
