public import Larder
import Service

/// A change that the user made and the service does not have yet.
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
      // In percent; an article stays in the list of unread ones until it is archived.
      case .read: ("read_progress", .number(100))
      case .unread: ("read_progress", .number(0))
      case .delete: nil
      }
    }
  }

  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The bookmark's `updated` that the user has seen: of the stored article, or after the previous change of it was sent.
  var base: String?

  /// `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}

/// The result of sending the changes.
public struct OutboxReport: Codable, Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped because the service has a later one, or refuses them.
  public var conflicts: [String] = []
  /// Changes that wait for a network, or for a usable answer.
  public var left = 0
  /// Why changes wait that the service could be asked about.
  public var reasons: [String] = []
  /// Whether the service refuses the user.
  public var isRefused = false

  fileprivate mutating func add(_ conflict: String?, of edit: PendingEdit) {
    if let conflict { conflicts.append("\(edit.text): \(conflict)") } else { sent += 1 }
  }
}

/// The user's changes, stored until the service has them.
///
/// They are sent in their order. Sending one twice has the same effect as sending it once, so a process that was killed in
/// between does no harm. A later change at the service wins, and the report says so.
struct Outbox: Sendable {
  let storage: ArticleStore
  let readeck: Readeck

  /// All changes in their order; nil for one that another version of this program has made.
  private func all() throws -> [(key: Key, edit: PendingEdit?)] {
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
    let known = try storage.article(id)?.bookmark
    let edit = PendingEdit(
      article: id, title: known?.name ?? id, kind: kind, made: storage.store.now,
      base: known?.updated)
    do {
      try add(edit)
    } catch let full as LarderError where full.code == .full {
      // Those in the queue come first.
      var report = try await send()
      guard report.left == 0 else { throw full }
      do {
        report.add(try await send(edit), of: edit)
      } catch let error as ServiceError where error.isOffline || error.isTemporary {
        throw full
      }
      _ = try ifRoom { try storage.store.write { try apply(edit, in: &$0) } }
      return report
    }
    return try await send()
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

  /// Applies the changes of an article that was stored while they wait.
  func apply(to id: String) throws {
    let edits = try edits().map(\.edit).filter { $0.article == id }
    if edits.isEmpty { return }
    try storage.store.write { batch in
      for edit in edits { try apply(edit, in: &batch) }
    }
  }

  /// The articles whose waiting changes archive or delete them.
  func hidden() throws -> Set<String> {
    var hidden: Set<String> = []
    for (_, edit) in try edits() {
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

  /// Sends the changes until the service cannot be reached, or refuses the user. A change that gets no usable answer waits, and
  /// with it the later ones of its article; those of other articles are sent.
  ///
  /// One process sends at a time, so that the service gets them in their order.
  func send() async throws -> OutboxReport {
    try await storage.syncs.inTurn("turn of the outbox") { try await sendAll() }
  }

  private func sendAll() async throws -> OutboxReport {
    var report = OutboxReport()
    var waiting: Set<String> = []
    while let (key, edit) = try edits().first(where: { !waiting.contains($0.edit.article) }) {
      do {
        let conflict = try await send(edit)
        report.add(conflict, of: edit)
        try await remove(key, edit, isSent: conflict == nil)
      } catch let error as ServiceError {
        waiting.insert(edit.article)
        let isGone = try await isGone(error)
        if isGone, case .unreachable = error { break }
        report.reasons.append("\(edit.text): \(error)")
        report.isRefused = error.refusesUser
        if isGone || report.isRefused { break }
      }
    }
    let all = try all()
    report.left = all.count
    let unknown = all.count { $0.edit == nil }
    if unknown > 0 {
      report.reasons.append("changes of another version of larder-articles: \(unknown)")
    }
    return report
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
  private func send(_ edit: PendingEdit) async throws -> String? {
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
      try await readeck.send(
        edit.kind.field.map { .object([$0.name: $0.value]) }, to: edit.article)
      return nil
    } catch ServiceError.refused(status: 404, _) {
      return edit.kind == .delete ? nil : "the article was deleted"
    } catch let error as ServiceError
      where error.isRefusal && !error.isTemporary && isReadable && !error.refusesUser
    {
      return "\(error)"
    }
  }

  /// Drops the changes of an article that wait; returns their number.
  func drop(_ id: String) throws -> Int {
    let keys = try edits().filter { $0.edit.article == id }.map(\.key)
    try storage.store.write { batch in
      for key in keys { try batch.remove(key, from: storage.outbox.namespace) }
    }
    try storage.refetch(id)
    return keys.count
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
  /// Whether the credential is not valid.
  fileprivate var refusesUser: Bool {
    if case .refused(let status, _) = self { [401, 407].contains(status) } else { false }
  }
}
