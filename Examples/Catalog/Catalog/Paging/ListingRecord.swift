/// Which versions of its pages a listing consists of.
///
/// Each page is a response of its own, and may be replaced while others are still fresh. Pages are shown side by side only if
/// they are those that this names, or if the service was asked about all of them.
struct ListingRecord: Codable, Sendable, Equatable {
  struct Page: Codable, Sendable, Equatable {
    /// Nil for the first page.
    var cursor: String?
    /// What names its version: the service's `ETag`, or its `Last-Modified` where it gives none.
    var validator: String?
  }

  var pages: [Page] = []

  func names(_ page: Page, at index: Int) -> Bool {
    index < pages.count && pages[index] == page && page.validator != nil
  }

  /// Takes note of a page. What followed another version of it is no part of the listing any more.
  mutating func set(_ page: Page, at index: Int) {
    if names(page, at: index) { return }
    pages = pages.prefix(index) + [page]
  }
}
