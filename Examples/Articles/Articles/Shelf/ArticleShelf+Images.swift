import Larder

/// The images of articles.
///
/// One that cannot be had, now or later, is an entry without bytes, so that nobody asks for it again as long as an article
/// shows it.
extension ArticleShelf {
  private func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// What is to be fetched for an article. Images that came with others belong to it too from now on.
  func missingImages(of article: StoredArticle) throws -> [String] {
    let owner = owner(article.bookmark.id)
    var missing: [String] = []
    for address in article.images {
      guard let entry = try images.entry(for: address) else {
        missing.append(address)
        continue
      }
      if !entry.owners.contains(owner) { try change(address) { $0.append(owner) } }
    }
    return missing
  }

  /// How an image of an article is to be kept.
  func attributes(ofImageIn id: String, type: String?) -> EntryAttributes {
    var attributes = EntryAttributes(expires: .never)
    attributes.owners = [owner(id)]
    attributes.metadata = type.map { Array($0.utf8) }
    return attributes
  }

  /// Images that an article does not show any more belong to it no longer.
  func release(_ addresses: some Sequence<String>, from id: String) throws {
    let owner = owner(id)
    for address in addresses { try change(address) { $0.removeAll { $0 == owner } } }
  }

  /// Whether so many bytes more are too many; otherwise what refused them is the disk.
  func isTooMuch(_ bytes: Int, limit: Int) throws -> Bool {
    try (images.namespace.facts()?.bytes ?? 0) + bytes > limit
  }

  /// Keeps an article without images, and notes why.
  func leaveOutImages(of article: StoredArticle, limit: Int) throws {
    let id = article.bookmark.id
    try release(article.images, from: id)
    var notes = StoredArticle.Notes(article)
    notes.imageLimit = limit
    try note(notes, of: id)
  }

  /// Leaves out the images of the oldest articles until the others fit.
  func leaveOutImages(downTo limit: Int) throws {
    for article in try list().reversed() where !article.images.isEmpty && !article.lacksImages {
      guard try isTooMuch(0, limit: limit) else { return }
      try leaveOutImages(of: article, limit: limit)
    }
  }

  /// Lets an article have images again, as there is more room now.
  func allowImages(in article: StoredArticle) throws {
    var notes = StoredArticle.Notes(article)
    notes.imageLimit = nil
    try note(notes, of: article.bookmark.id)
  }

  /// Changes what is noted beside the HTML of an article that is not being fetched anew.
  private func note(_ notes: StoredArticle.Notes, of id: String) throws {
    let metadata = try notes.encoded()
    try store.write { batch in
      guard let entry = try batch.entry(for: id, in: articles.namespace), entry.state == .fresh,
        let html = try batch.value(for: id, in: articles.namespace)
      else { return }
      var attributes = EntryAttributes(codec: entry.codec)
      attributes.entityTag = entry.entityTag
      attributes.lastModified = entry.lastModified
      attributes.metadata = metadata
      attributes.written = entry.written
      try batch.set(html, for: id, in: articles.namespace, attributes)
    }
  }

  /// Changes whose an image is; one that is nobody's leaves.
  private func change(_ address: String, _ change: (inout [Owner]) -> Void) throws {
    try store.write { batch in
      guard var owners = try batch.entry(for: address, in: images.namespace)?.owners else { return }
      change(&owners)
      if owners.isEmpty {
        try batch.remove(address, from: images.namespace)
      } else {
        try batch.setOwners(owners, of: address, in: images.namespace)
      }
    }
  }
}
