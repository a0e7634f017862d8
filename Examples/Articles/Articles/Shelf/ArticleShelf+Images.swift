import Larder

/// The images of articles.
///
/// An image has as owners the articles that show it and have room for it. An empty entry stands for an image that the service
/// refused; it expires after ``absence``, and the image is requested again.
extension ArticleShelf {
  static let absence = Duration.days(1)

  private func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// The images to fetch for an article. An image that another article has fetched gets this owner too.
  func missingImages(of article: StoredArticle) throws -> [String] {
    let id = article.bookmark.id
    let owner = owner(id)
    return try article.images.filter { address in
      guard let entry = try images.entry(for: address), entry.state != .expired else {
        return true
      }
      if entry.owners.contains(owner) { return false }
      return try settle(address, shownBy: id) == .missing
    }
  }

  /// The attributes of an article's image.
  func attributes(ofImageIn id: String, type: String?) -> EntryAttributes {
    var attributes = EntryAttributes(expires: .never)
    attributes.owners = [owner(id)]
    attributes.metadata = type.map { Array($0.utf8) }
    return attributes
  }

  /// The state of an image for one article.
  enum Standing {
    /// Stored, and owned by the article.
    case kept
    /// Not stored, and the article needs it.
    case missing
    /// The article was removed, does not show it any more, or has no room for it.
    case unwanted
  }

  /// Sets the owners of an image to the articles that need it, and returns its state for the article `id`.
  ///
  /// It was stored for one article; others may have waited for the same fetch, and that one may have changed meanwhile. An
  /// image without owners is removed.
  func settle(_ address: String, shownBy id: String) throws -> Standing {
    try store.write { batch in try settle(address, shownBy: id, in: &batch) }
  }

  private func settle(
    _ address: String, shownBy id: String, in batch: inout WriteBatch
  ) throws -> Standing {
    let isWanted = try notes(of: id, in: &batch)?.keeps(address) == true
    guard let known = try batch.entry(for: address, in: images.namespace) else {
      return isWanted ? .missing : .unwanted
    }
    var owners: [Owner] = []
    for owner in known.owners + [owner(id)] where !owners.contains(owner) {
      guard let id = owner.key.string, try notes(of: id, in: &batch)?.keeps(address) == true else {
        continue
      }
      owners.append(owner)
    }
    if owners.isEmpty {
      try batch.remove(address, from: images.namespace)
    } else if owners != known.owners {
      try batch.setOwners(owners, of: address, in: images.namespace)
    }
    return isWanted ? .kept : .unwanted
  }

  /// Records that the service refused an image, unless it is stored by now.
  func noteAbsence(of address: String, in id: String, reason: String) throws {
    var attributes = attributes(ofImageIn: id, type: reason)
    attributes.expires = .after(Self.absence)
    try store.write { batch in
      guard try settle(address, shownBy: id, in: &batch) == .missing else { return }
      try batch.set([], for: address, in: images.namespace, attributes)
    }
  }

  /// Whether these additional bytes exceed the limit for images.
  func isTooMuch(_ bytes: Int, limit: Int) throws -> Bool {
    try (images.namespace.info()?.bytes ?? 0) + bytes > limit
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
      guard try isTooMuch(0, limit: limit) else { return }
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

  /// Removes the images that only the former version showed.
  func releaseFormerImages(of id: String) throws {
    guard try article(id)?.notes.former != nil else { return }
    try note(id) { notes in
      defer { notes.former = nil }
      return notes.former ?? []
    }
  }

  /// Changes an article's metadata, and settles the owners of the images that `change` returns.
  private func note(_ id: String, _ change: (inout StoredArticle.Notes) -> [String]) throws {
    try store.write { batch in
      guard var notes = try notes(of: id, in: &batch) else { return }
      let addresses = change(&notes)
      try batch.setMetadata(notes.encoded(), of: id, in: articles.namespace)
      for address in addresses { _ = try settle(address, shownBy: id, in: &batch) }
    }
  }

  private func notes(of id: String, in batch: inout WriteBatch) throws -> StoredArticle.Notes? {
    try batch.entry(for: id, in: articles.namespace).flatMap(StoredArticle.init)?.notes
  }
}
