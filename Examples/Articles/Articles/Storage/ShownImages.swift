import Foundation
import Synchronization

/// The images of one article's metadata, decoded once: each image that arrives asks whether the article shows it.
final class ShownImages: Sendable {
  private struct Last {
    var metadata: [UInt8]
    var images: Set<String>
  }

  private let last = Mutex<Last?>(nil)

  /// Whether the article with this metadata shows the image and has room for it; false for other metadata.
  func has(_ address: String, in metadata: [UInt8]) -> Bool {
    last.withLock { last in
      if last?.metadata != metadata {
        let notes = try? JSONDecoder().decode(StoredArticle.Notes.self, from: Data(metadata))
        let images = notes?.imageLimit == nil ? notes?.images : nil
        last = Last(metadata: metadata, images: Set(images ?? []))
      }
      return last?.images.contains(address) == true
    }
  }
}
