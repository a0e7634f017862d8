import Larder

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The session of the user.
///
/// An entry with a unique key stands for the session. Signing out removes it in the same transaction as the user's data, so a
/// fetch under way, in any process, finds that the session has ended and stores nothing.
extension ArticleShelf {
  struct User: Sendable {
    let key: Key
  }

  private static let syncKey = "last sync"

  /// The current session; begins one if there is none.
  func user() throws -> User {
    if let known = try users.page(limit: 1).items.first { return User(key: known.key) }
    // A load is not stored after a clear of its namespace, if the namespace existed when the load began.
    try obey()
    let key = Key(UUID().uuidString)
    var attributes = EntryAttributes(expires: .never)
    attributes.isPinned = true
    try users.set([], for: key, attributes)
    return User(key: key)
  }

  func isHere(_ user: User) throws -> Bool { try users.contains(user.key) }

  func syncMark() throws -> SyncMark? { try syncs.value(for: Self.syncKey) }

  /// Records a sync that has ended.
  ///
  /// - Parameters:
  ///   - isSuccess: whether its time becomes that of the last sync.
  ///   - refusal: the article without room.
  func noteSync(for user: User, isSuccess: Bool, refusal: SyncMark.Refusal?) throws {
    guard try settings().isOn else { return }
    try store.write { batch in
      guard try batch.entry(for: user.key, in: users) != nil else { return }
      let before = try batch.value(for: Self.syncKey, in: syncs)
      let mark = SyncMark(moment: isSuccess ? store.now : before?.moment, refusal: refusal)
      if mark != before { try batch.set(mark, for: Self.syncKey, in: syncs) }
    }
  }

  /// Removes the session and all data but the settings.
  func forget() throws {
    try store.write { batch in
      for name in [articles.name, images.name, syncs.name, outbox.name, users.name] {
        _ = try batch.clear(name)
      }
    }
  }
}
