import Larder
import Service
import Synchronization

extension ArticleReader {
  /// Fetches the missing images of an article, four at a time and at background priority; returns the number of fetched images.
  ///
  /// An image that fails does not stop the others. If the images do not fit, the article stays without images.
  func fetchImages(of id: String) async throws -> Int {
    let limit = try settings().imageBytes
    guard let article = try storedArticle(id), limit > article.imageLimit ?? 0 else { return 0 }
    let missing = try article.images.filter { address in
      let entry = try images.entry(for: address)
      return entry.map { $0.state == .expired || !$0.owners.contains(owner(id)) } ?? true
    }
    if missing.isEmpty { return 0 }
    let options = LoadOptions(
      expires: .never, absent: .after(.days(1)), owners: [owner(id)])
    let fetched = Atomic(0)
    let prefetch = try images.prefetch(
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
    let isTooLarge = [.full, .overLimit].contains((failure as? LarderError)?.code)
    // Another article may have waited for the same loads, and the article may have changed meanwhile.
    try settle(article, imageLimit: isTooLarge ? limit : nil)
    try Task.checkCancellation()
    if isTooLarge { return 0 }
    if let failure { throw failure }
    return fetched.load(ordering: .relaxed)
  }

  /// The image; nil if the service refuses it, or if the answer is empty, too large or broken. Throws for other content.
  private func fetchImage(at address: String) async throws -> [UInt8]? {
    do {
      for pause in pauses {
        do { return try await readeck.image(at: address) } catch let error as ServiceError {
          // An equal request may succeed a little later.
          let status = error.status ?? 0
          guard error.isOffline || status >= 500 || [408, 429].contains(status) else { throw error }
          try await Task.sleep(for: pause)
        }
      }
      return try await readeck.image(at: address)
    } catch let error as ServiceError {
      switch error {
      case .refused where error.isRefusal, .undecodable: return nil
      case .failed where !error.isOffline: return nil
      default: throw error
      }
    }
  }
}
