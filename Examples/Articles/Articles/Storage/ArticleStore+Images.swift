import Larder

/// The images of articles.
///
/// An image has as owners the articles that show it and have room for it. A negative entry stands for an image that the service
/// refused, or that is too large or incomplete; it expires after ``absence``, and the image is requested again.
extension ArticleStore {
  static let absence = Duration.days(1)

  func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// The images to fetch for an article. An image that another article has fetched gets this owner too.
  func missingImages(of article: StoredArticle) throws -> [String] {
    let id = article.bookmark.id
    return try article.images.filter { address in
      guard let entry = try images.entry(for: address), entry.state != .expired else { return true }
      if entry.owners.contains(owner(id)) { return false }
      return try settle(address, shownBy: id) == .missing
    }
  }

  /// The state of an image for one article.
  enum ImageState {
    /// Stored, and owned by the article.
    case stored
    /// Not stored, and the article needs it.
    case missing
    /// The article was removed, does not show it any more, or has no room for it.
    case unwanted
  }

  /// Sets the owners of an image to the articles that need it, and returns its state for the article `id`.
  ///
  /// It was stored for one article; others may have waited for the same load, and that one may have changed meanwhile. An
  /// image without owners is removed.
  func settle(_ address: String, shownBy id: String) throws -> ImageState {
    try store.write { batch in try settle(address, shownBy: id, in: &batch) }
  }

  private func settle(
    _ address: String, shownBy id: String, in batch: inout WriteBatch
  ) throws -> ImageState {
    let isWanted = try needs(address, id, in: &batch)
    guard let known = try batch.entry(for: address, in: images.namespace) else {
      return isWanted ? .missing : .unwanted
    }
    var owners: [Owner] = []
    for owner in known.owners + [owner(id)] where !owners.contains(owner) {
      guard let id = owner.key.string, try needs(address, id, in: &batch) else { continue }
      owners.append(owner)
    }
    if owners.isEmpty {
      try batch.remove(address, from: images.namespace)
    } else if owners != known.owners {
      try batch.setOwners(owners, of: address, in: images.namespace)
    }
    return isWanted ? .stored : .unwanted
  }

  /// Whether an article shows an image and has room for it.
  private func needs(
    _ address: String, _ id: String, in batch: inout WriteBatch
  ) throws -> Bool {
    let entry = try batch.entry(for: id, in: articles.namespace)
    guard let entry, entry.state != .expired, let metadata = entry.metadata else { return false }
    return shown.has(address, in: metadata)
  }

  /// Keeps an article without images, and records the limit; a version with other images keeps those.
  func leaveOutImages(of article: StoredArticle, limit: Int) throws {
    try note(article.bookmark.id) { notes in
      if notes.images == article.images { notes.imageLimit = limit }
      return article.images
    }
  }

  /// Removes the images of the oldest articles until the others fit.
  func leaveOutImages(downTo limit: Int) throws {
    for article in try list().reversed() where !article.images.isEmpty && !article.lacksImages {
      guard try (images.namespace.info()?.bytes ?? 0) > limit else { return }
      try leaveOutImages(of: article, limit: limit)
    }
  }

  /// Allows an article images again, after the limit was raised.
  func allowImages(in id: String) throws {
    try note(id) { notes in
      notes.imageLimit = nil
      return []
    }
  }

  /// Removes those of the images that the article does not show any more, unless others show them.
  func release(_ images: [String], of id: String) throws { try note(id) { _ in images } }

  /// Notes when the service has made the user's own change of an article.
  func noteChange(at updated: String, of id: String) throws {
    try note(id) { notes in
      notes.ownChange = updated
      return []
    }
  }

  /// Changes an article's metadata, and settles the owners of the images that `change` returns.
  private func note(_ id: String, _ change: (inout StoredArticle.Notes) -> [String]) throws {
    try store.write { batch in
      guard let before = try notes(of: id, in: &batch) else { return }
      var notes = before
      let addresses = change(&notes)
      if notes != before { try batch.setMetadata(notes.encoded(), of: id, in: articles.namespace) }
      for address in addresses { _ = try settle(address, shownBy: id, in: &batch) }
    }
  }

  private func notes(of id: String, in batch: inout WriteBatch) throws -> StoredArticle.Notes? {
    try batch.entry(for: id, in: articles.namespace).flatMap(StoredArticle.init)?.notes
  }
}
