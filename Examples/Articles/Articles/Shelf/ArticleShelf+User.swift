import Larder

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whose articles they are.
///
/// A user who is here is an entry, whose key is nobody else's ever again. It leaves in the same transaction as all that is
/// kept for the user, so that whoever still fetches for one who has left finds that out, in any process.
extension ArticleShelf {
  struct User: Sendable {
    let key: Key
  }

  private static let syncKey = "last sync"

  /// The user who is here; a new one if nobody is.
  func user() throws -> User {
    if let known = try users.page(limit: 1).items.first { return User(key: known.key) }
    // An article that is being loaded is not stored once its namespace was cleared, if that was there when it began.
    try obey()
    let key = Key(UUID().uuidString)
    var attributes = EntryAttributes(expires: .never)
    attributes.isPinned = true
    try users.set([], for: key, attributes)
    return User(key: key)
  }

  func isHere(_ user: User) throws -> Bool { try users.contains(user.key) }

  func lastSync() throws -> SyncMark? { try syncs.value(for: Self.syncKey) }

  /// Notes that a sync has just ended well.
  func noteSync(for user: User) throws {
    guard try settings().isOn else { return }
    try store.write { batch in
      guard try batch.entry(for: user.key, in: users) != nil else { return }
      try batch.set(SyncMark(moment: store.now), for: Self.syncKey, in: syncs)
    }
  }

  /// Lets go of everything but the settings, and of the user.
  func forget() throws {
    try store.write { batch in
      for name in [articles.name, images.name, syncs.name, users.name] {
        _ = try batch.clear(name)
      }
    }
  }
}
