import Larder
import Service

extension ArticleReader {
  /// Fetches the missing images of an article, four at a time and at background priority; returns the number of fetched images.
  ///
  /// An image that fails does not stop the others. If the images do not fit, the article stays without images.
  func images(of id: String) async throws -> Int {
    let limit = try storage.settings().imageBytes
    guard limit > 0, let article = try storage.article(id) else { return 0 }
    if let refused = article.notes.imageLimit {
      guard limit > refused else { return 0 }
      try storage.note(imageLimit: nil, of: article)
    }
    let missing = try article.images.filter { address in
      let entry = try storage.images.entry(for: address)
      return entry.map { $0.state == .expired || !$0.owners.contains(storage.owner(id)) } ?? true
    }
    let prefetch = try Prefetch(
      missing, concurrency: 4, priority: .background, pause: { _ in .zero },
      load: { [self] in try await storeImage(at: $0, of: id) ? .loaded : .present })
    var failure: (any Error)?
    for await step in prefetch {
      guard case .failed(let error) = step.outcome else { continue }
      failure = failure ?? error
      prefetch.cancel()
    }
    let summary = await prefetch.finish()
    try Task.checkCancellation()
    guard let failure else { return summary.loaded }
    guard let error = failure as? LarderError, [.full, .overLimit].contains(error.code) else {
      throw failure
    }
    try storage.note(imageLimit: limit, of: article)
    return 0
  }

  /// Whether the image was fetched; throws if the store fails or has no room for it. For a useless image, stores a negative
  /// entry for a day.
  private func storeImage(at address: String, of id: String) async throws -> Bool {
    let options = LoadOptions(
      expires: .never, absent: .after(.days(1)), owners: [storage.owner(id)], waitsForCommit: true)
    do {
      let loaded = try await storage.images.result(for: address, options: options) { [self] _ in
        try await fetchImage(at: address)
      }
      if let error = loaded?.error { throw error }
      // Another article may have waited for the same load, and the article `id` may have changed meanwhile.
      try storage.store.write { try storage.settle([address], of: id, in: &$0) }
      return loaded?.source == .loaded
    } catch let error as LarderError where error.code == .noSuchOwner {
      // The article was removed meanwhile.
      return false
    } catch is ServiceError {
      // The next sync tries again.
      return false
    }
  }

  /// The image; absent if the service refuses it, or if the answer is empty, too large or broken. Throws for other content.
  private func fetchImage(at address: String) async throws -> Loaded<[UInt8]> {
    var pauses: [Duration] = [.seconds(2), .milliseconds(500)]
    while true {
      do {
        return .value(try await readeck.image(at: address))
      } catch let error as ServiceError {
        // An equal request may succeed a little later.
        let status = error.status ?? 0
        if error.isOffline || status >= 500 || [408, 429].contains(status) {
          guard let pause = pauses.popLast() else { throw error }
          try await sleep(pause)
          continue
        }
        if error.isRefusal { return .absent }
        switch error {
        case .undecodable, .broken: return .absent
        default: throw error
        }
      }
    }
  }
}
