import Larder

/// The images of articles.
///
/// An image belongs to those articles that show it and have room for it. One that cannot be had, now or later, is an entry
/// without bytes, so that nobody asks for it again as long as an article shows it.
extension ArticleShelf {
  private func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// What is to be fetched for an article. Images that came with others belong to it too from now on.
  func missingImages(of article: StoredArticle) throws -> [String] {
    let id = article.bookmark.id
    let owner = owner(id)
    return try article.images.filter { address in
      guard let entry = try images.entry(for: address) else { return true }
      if entry.owners.contains(owner) { return false }
      return try settle(address, shownBy: id) == .missing
    }
  }

  /// How an image of an article is to be kept.
  func attributes(ofImageIn id: String, type: String?) -> EntryAttributes {
    var attributes = EntryAttributes(expires: .never)
    attributes.owners = [owner(id)]
    attributes.metadata = type.map { Array($0.utf8) }
    return attributes
  }

  /// What an image is to an article.
  enum Standing {
    /// It is there and belongs to it.
    case kept
    /// It is not there, and to be kept for it.
    case missing
    /// The article has left, shows it no more, or has no room for it.
    case unwanted
  }

  /// Makes an image belong to all who keep it and to nobody else, and says what it is to the article `id`.
  ///
  /// Who fetched it stored it for one article: others may have waited for the same fetch, and that one may have changed
  /// meanwhile. An image that is nobody's leaves.
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

  /// Notes that an image of an article cannot be had, unless somebody has it by now.
  func noteAbsence(of address: String, in id: String, reason: String) throws {
    let attributes = attributes(ofImageIn: id, type: reason)
    try store.write { batch in
      guard try settle(address, shownBy: id, in: &batch) == .missing else { return }
      try batch.set([], for: address, in: images.namespace, attributes)
    }
  }

  /// Whether so many bytes more are too many; otherwise what refused them is the disk.
  func isTooMuch(_ bytes: Int, limit: Int) throws -> Bool {
    try (images.namespace.info()?.bytes ?? 0) + bytes > limit
  }

  /// Keeps an article without images, and notes why; one that shows others by now keeps those.
  func leaveOutImages(of article: StoredArticle, limit: Int) throws {
    try note(article.bookmark.id) { notes in
      if notes.images == article.images { notes.imageLimit = limit }
      return article.images
    }
  }

  /// Leaves out the images of the oldest articles until the others fit.
  func leaveOutImages(downTo limit: Int) throws {
    for article in try list().reversed() where !article.images.isEmpty && !article.lacksImages {
      guard try isTooMuch(0, limit: limit) else { return }
      try leaveOutImages(of: article, limit: limit)
    }
  }

  /// Lets an article have images again, as there is more room now.
  func allowImages(in id: String) throws {
    try note(id) { notes in
      notes.imageLimit = nil
      return []
    }
  }

  /// Lets go of the images that only the version before the one that is kept did show.
  func releaseFormerImages(of id: String) throws {
    guard try article(id)?.notes.former != nil else { return }
    try note(id) { notes in
      defer { notes.former = nil }
      return notes.former ?? []
    }
  }

  /// Changes what is noted beside an article's HTML, and settles whose the images are then that `change` names.
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
