import Larder
import Service
import Synchronization

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
    if missing.isEmpty { return 0 }
    let options = LoadOptions(
      expires: .never, absent: .after(.days(1)), owners: [storage.owner(id)])
    let fetched = Atomic(0)
    let prefetch = try storage.images.prefetch(
      missing, options: options, concurrency: 4, priority: .background
    ) { [self] address, _ in
      guard let image = try await fetchImage(at: address) else { return .absent }
      fetched.add(1, ordering: .relaxed)
      return .value(image)
    }
    var failure: (any Error)?
    for await step in prefetch {
      // The next sync tries a failed request again. The article may have been removed meanwhile.
      guard case .failed(let error) = step.outcome, !(error is ServiceError),
        (error as? LarderError)?.code != .noSuchOwner
      else { continue }
      failure = failure ?? error
      prefetch.cancel()
    }
    _ = await prefetch.finish()
    // Another article may have waited for the same loads, and the article `id` may have changed meanwhile.
    try storage.store.write { try storage.settle(missing, of: id, in: &$0) }
    try Task.checkCancellation()
    guard let failure else { return fetched.load(ordering: .relaxed) }
    guard let error = failure as? LarderError, [.full, .overLimit].contains(error.code) else {
      throw failure
    }
    try storage.note(imageLimit: limit, of: article)
    return 0
  }

  /// The image; nil if the service refuses it, or if the answer is empty, too large or broken. Throws for other content.
  private func fetchImage(at address: String) async throws -> [UInt8]? {
    var pauses: [Duration] = [.seconds(2), .milliseconds(500)]
    while true {
      do {
        return try await readeck.image(at: address)
      } catch let error as ServiceError {
        // An equal request may succeed a little later.
        let status = error.status ?? 0
        if error.isOffline || status >= 500 || [408, 429].contains(status) {
          guard let pause = pauses.popLast() else { throw error }
          try await sleep(pause)
          continue
        }
        if error.isRefusal { return nil }
        switch error {
        case .undecodable, .failed: return nil
        default: throw error
        }
      }
    }
  }
}
