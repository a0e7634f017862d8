import Foundation
import Larder

/// How many articles there is room for, and which leave when a newer one needs it.
extension ArticleStore {
  /// The most articles that can be stored: the user's limit, or an operator's if that is lower.
  func limit() throws -> Int {
    min(try settings().limit, try articles.namespace.info()?.rules.limits.entries ?? .max)
  }

  /// Removes articles until there is room for one more within the limit, as ``removable(for:keeping:)`` chooses them. Removes
  /// none for an article that can never fit.
  func makeRoom(for bookmark: Bookmark, of size: Int, keeping listed: Set<String>?) async throws {
    let limit = try limit()
    guard limit > 0, try !has(bookmark.id), try size <= largest() else { return }
    while try articles.count() >= limit {
      guard let oldest = try removable(for: bookmark, keeping: listed).last else { return }
      try await remove(oldest.bookmark.id)
    }
  }

  /// The articles that may leave for another one, of which the last is the first to leave: first those that are not listed,
  /// then those that are older.
  ///
  /// - Parameter listed: the articles that a sync wants to keep. Nil for an article that is opened: it displaces no newer one.
  func removable(for bookmark: Bookmark, keeping listed: Set<String>?) throws -> [StoredArticle] {
    let stored = try list().filter { $0.bookmark.id != bookmark.id }
    let isUnlisted = { (article: StoredArticle) in
      article.bookmark.isArchived || listed?.contains(article.bookmark.id) == false
    }
    let older = stored.filter {
      !isUnlisted($0) && !bookmark.isArchived && bookmark.isNewer(than: $0.bookmark)
    }
    return older + stored.filter(isUnlisted)
  }

  func remove(_ id: String) async throws { try await articles.remove(id) }

  /// Whether the removal of these articles can make room for a body of so many bytes.
  func hasRoom(for size: Int, without articles: [StoredArticle]) throws -> Bool {
    // A limit on entries has nothing to do with their sizes.
    if try store.limits().effective.entries != nil { return true }
    return try articles.reduce(0) { sum, article in
      try article.images.reduce(sum + article.size) {
        try $0 + (images.entry(for: $1)?.size ?? 0)
      }
    } >= size
  }

  /// The bytes that the largest article may have, as far as limits say.
  private func largest() throws -> Int {
    let (rules, limits) = (try articles.namespace.info()?.rules, try store.limits().effective)
    return [rules?.largestValue, rules?.limits.bytes, limits.bytes, limits.disk].compactMap { $0 }
      .min() ?? .max
  }

  /// The bytes in the store, without those that syncs write about themselves.
  func used() throws -> Int {
    try [syncs.namespace, oversized.namespace].reduce(store.statistics().bytes) { sum, namespace in
      try sum - (namespace.info()?.bytes ?? 0)
    }
  }

  /// Whether the disk itself may lack the room for so many bytes. It can get room without any trace in the store.
  func isDiskFull(for size: Int) -> Bool {
    do {
      let system = try FileManager.default.attributesOfFileSystem(forPath: store.path)
      return (system[.systemFreeSize] as? NSNumber)?.intValue ?? .max < size + 4_000_000
    } catch {
      return false
    }
  }

  /// Declares the limits of the settings, and removes the oldest articles and images beyond them.
  func applySettings() throws {
    let settings = try settings()
    let rules = Rules(
      expires: .never, stale: Self.ever, limits: Limits(entries: settings.limit), eviction: .refuse)
    // An image never evicts another, which would break that one's article.
    let imageRules = Rules(limits: Limits(bytes: settings.imageBytes), eviction: .refuse)
    if try articles.namespace.info()?.declared == rules,
      try images.namespace.info()?.declared == imageRules
    {
      return
    }
    if settings.imageBytes == 0 { try images.clear() }
    if settings.limit == 0 { try clear([articles.name, images.name]) }
    let leaving = try list().dropFirst(settings.limit)
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
    try leaveOutImages(downTo: settings.imageBytes)
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }
}
