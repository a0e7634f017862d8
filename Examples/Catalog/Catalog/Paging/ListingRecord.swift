/// The versions of a listing's pages that belong together.
///
/// Each page is a response with its own freshness, and may be replaced while others are still fresh. Pages are combined only if
/// this record has them, or if the service validated all of them in one pass.
struct ListingRecord: Codable, Sendable, Equatable {
  struct Page: Codable, Sendable, Equatable {
    /// Nil for the first page.
    var cursor: String?
    /// The `ETag`, or `Last-Modified` without one.
    var validator: String?
  }

  var pages: [Page] = []

  func names(_ page: Page, at index: Int) -> Bool {
    index < pages.count && pages[index] == page && page.validator != nil
  }

  /// Records a page. Pages after another version of it are removed from the record.
  mutating func set(_ page: Page, at index: Int) {
    if names(page, at: index) { return }
    pages = pages.prefix(index) + [page]
  }
}
