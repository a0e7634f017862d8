#if HTTP
  import Larder

  /// All pages of a listing, from one version of the listing. A service returns each page with a cursor for the next page.
  ///
  ///     let walk = PageWalk(
  ///       next: { $0.nextCursor }, isInvalidCursor: { $0 is InvalidCursor },
  ///       fetch: { cursor in try await api.catalog(after: cursor) })
  ///     let pages = try await walk.all()
  ///
  /// The next page is fetched while the caller uses the present page. If the service does not know a cursor any more, the walk
  /// begins again, once. If a page has another version than the earlier pages, the walk begins again, at most twice. After a
  /// new beginning the iteration gets all pages again, from ``Element/index`` 0, and results from earlier pages are outdated.
  public struct PageWalk<Page: Sendable, Cursor: Hashable & Sendable>: AsyncSequence, Sendable {
    /// A page, and its place in the walk.
    public struct Element: Sendable {
      /// The number of pages before this page. If the walk begins again, the number is 0 again.
      public var index: Int
      /// The page as it was fetched.
      public var page: Page
    }

    private let next: @Sendable (Page) throws -> Cursor?
    private let version: @Sendable (Page) -> String?
    private let isInvalidCursor: @Sendable (any Error) -> Bool
    private let fetch: @Sendable (Cursor?) async throws -> Page

    /// The largest index of a page.
    private static var longest: Int { 100_000 }
    private static var mostVersions: Int { 3 }

    /// - Parameters:
    ///   - next: returns the cursor of the page after the given page; nil after the last page.
    ///   - version: returns the version of the listing to which a page belongs; nil if the service does not state versions.
    ///   - isInvalidCursor: whether an error means that the service does not know a cursor any more.
    ///   - fetch: fetches the page at a cursor, or the first page if the cursor is nil.
    public init(
      next: @escaping @Sendable (Page) throws -> Cursor?,
      version: @escaping @Sendable (Page) -> String? = { _ in nil },
      isInvalidCursor: @escaping @Sendable (any Error) -> Bool = { _ in false },
      fetch: @escaping @Sendable (Cursor?) async throws -> Page
    ) {
      self.next = next
      self.version = version
      self.isInvalidCursor = isInvalidCursor
      self.fetch = fetch
    }

    /// All pages of one version of the listing.
    ///
    /// - Throws: the errors of the closures; `LarderError/Code/badCursor` if a page has the cursor of an earlier page, or if
    ///   there are too many pages; `LarderError/Code/busy` if the listing keeps changing.
    public func all() async throws -> [Page] {
      var pages: [Page] = []
      for try await element in self {
        if element.index == 0 { pages = [] }
        pages.append(element.page)
      }
      return pages
    }

    public func makeAsyncIterator() -> Iterator { Iterator(walk: self) }

    private typealias Fetch = EndedOnRelease<Task<Page, any Error>>

    /// Begins to fetch a page. The fetch is cancelled when the last reference to the result is released.
    private func begin(at cursor: Cursor?) -> Fetch {
      EndedOnRelease(Task { try await fetch(cursor) }, end: { $0.cancel() })
    }

    /// A walk under way.
    public struct Iterator: AsyncIteratorProtocol {
      private let walk: PageWalk
      /// The cursors of this walk. If a cursor comes twice, the walk would not end, so the walk throws an error.
      private var cursors: Set<Cursor> = []
      private var index = 0
      private var version: String?
      private var versions = 1
      private var hasMetInvalidCursor = false
      /// The fetch of the next page; nil after the last page.
      private var ahead: Fetch?

      fileprivate init(walk: PageWalk) {
        self.walk = walk
        ahead = walk.begin(at: nil)
      }

      /// The next page; nil after the last page.
      public mutating func next() async throws -> Element? {
        while let fetch = ahead {
          let page: Page
          do {
            page = try await withTaskCancellationHandler {
              try await fetch.resource.value
            } onCancel: {
              fetch.resource.cancel()
            }
          } catch let error where walk.isInvalidCursor(error) && !hasMetInvalidCursor && index > 0 {
            hasMetInvalidCursor = true
            begin()
            continue
          }
          let version = walk.version(page)
          if let version, let known = self.version, !version.utf8.elementsEqual(known.utf8) {
            guard versions < PageWalk.mostVersions else {
              throw LarderError(
                .busy, "a listing changed \(versions) times while its pages were read",
                hint: "try again later")
            }
            versions += 1
            begin()
            continue
          }
          self.version = self.version ?? version
          let cursor = try walk.next(page)
          if let cursor, !cursors.insert(cursor).inserted || index >= PageWalk.longest {
            throw LarderError(
              .badCursor, "the pages of a listing do not end: page \(index + 1) leads to \(cursor)",
              hint: "report it to the service")
          }
          ahead = cursor.map { walk.begin(at: $0) }
          defer { index += 1 }
          return Element(index: index, page: page)
        }
        return nil
      }

      private mutating func begin() {
        (cursors, index, version, ahead) = ([], 0, nil, walk.begin(at: nil))
      }
    }
  }
#endif
