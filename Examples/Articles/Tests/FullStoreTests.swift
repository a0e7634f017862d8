import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// Reading goes on where nothing more can be kept.
@Suite(.fixture(Fixture.self)) struct FullStoreTests {
  private let fixture = Fixture.current

  enum Shortage: CaseIterable {
    /// The store's limit is reached, and nothing may leave.
    case limit
    /// So is the file's, which is what a full disk comes to: not even a note can be written.
    case disk
  }

  /// Leaves no room in the store for anything else.
  private func fill(_ store: Store, _ shortage: Shortage) throws {
    try store.fill()
    guard shortage == .disk else { return }
    try store.declare(StoreLimits(disk: 4_000_000))
    let others = store.namespace("others")
    // The second fills up to the last page.
    for size in [50_000, 0] {
      #expect(throws: LarderError.self) {
        for number in 0..<1_000_000 {
          try others.set([UInt8](repeating: 1, count: size), for: "\(size) \(number)")
        }
      }
    }
  }

  @Test(arguments: Shortage.allCases, [true, false]) func `an article is opened and not kept`(
    shortage: Shortage, isFirst: Bool
  ) async throws {
    fixture.readeck.fill(3, images: 1)
    if !isFirst {
      _ = try await fixture.reader.article(id: FakeReadeck.id(0))
      await fixture.reader.finish()
    }
    try fill(fixture.store, shortage)
    for _ in 0..<2 {
      let article = try await fixture.reader.article(id: FakeReadeck.id(1))
      #expect(!article.isKept && !article.isOutdated && article.html.contains("<section>1 "))
    }
    #expect(try fixture.reader.stored().count == (isFirst ? 0 : 1))
  }

  @Test(arguments: Shortage.allCases) func `an edited one is opened as it is now, and listed`(
    shortage: Shortage
  ) async throws {
    fixture.readeck.fill(20, images: 1)
    _ = try await fixture.sync()
    let id = FakeReadeck.id(19)
    fixture.readeck.change(id) {
      ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1")
      $0.html = "new" + String(repeating: "!", count: 100_000)
    }
    try fill(fixture.store, shortage)
    let list = try await fixture.reader.unread()
    #expect(list.bookmarks.count == 20 && !list.isOffline)
    let article = try await fixture.reader.article(list.bookmarks[0])
    #expect(article.html.hasPrefix("new!") && !article.isOutdated)
    // One that is kept already can be read as before.
    fixture.wire.fail()
    #expect(try await fixture.reader.article(list.bookmarks[1]).isKept)
  }

  @Test(arguments: Shortage.allCases) func `another article is opened at the limit of articles`(
    shortage: Shortage
  ) async throws {
    fixture.readeck.fill(20)
    _ = try await fixture.sync()
    fixture.readeck.fill(1, from: 20)
    let text = String(repeating: "x", count: 500_000)
    fixture.readeck.change(FakeReadeck.id(20)) { $0.html = text }
    try fill(fixture.store, shortage)
    let article = try await fixture.reader.article(id: FakeReadeck.id(20))
    #expect(article.html == text)
  }

  @Test(.enabled(if: Outcome.canMount, "skipped: no file system of one's own can be mounted"))
  func `on a full disk everything can be read, and only a sync fails`() async throws {
    let readeck = FakeReadeck()
    readeck.fill(11)
    let (kept, edited, other) = (FakeReadeck.id(9), FakeReadeck.id(10), FakeReadeck.id(0))
    // What is free within the store's file is not enough for it.
    let long = String(repeating: "long ", count: 200_000)
    readeck.change(other) { $0.html = "other " + long }
    let folder = try TemporaryFolder()
    try await LocalServer.run { server in
      server.become { request in
        if request.bare == "/api/bookmarks", server.count > 1 {
          readeck.change(edited) { page in
            (page.html, page.entityTag) = ("new " + long, "1")
            page.updated = "2026-01-01T00:00:00Z"
          }
        }
        return readeck.answer(request)
      }
      let outcome = try await Outcome(
        line: """
          export READECK_TOKEN=\(FakeReadeck.token)
          exec unshare -rm sh -c '
            run() {
              echo "== $1"
              larder-articles "$@" --store "$0/a" --server \(server.base)/api 2>&1
              echo "== $?"
            }
            mount -t tmpfs -o size=2m none "$0"
            run settings --articles 10
            run sync
            dd if=/dev/zero of="$0/fill" bs=1k 2> /dev/null
            # And what is free within the file.
            for command in "list --online" "show \(kept)" "show \(edited)" "show \(other)"; do
              for size in 20000 3000 500 1; do
                n=0
                while larder "$0/a" -e "set @others $size-$n $(printf "%0${size}d" 0)"; do
                  n=$((n + 1))
                done > /dev/null 2>&1
              done
              run $command
            done
            run status
            run sync
          ' "\(folder.url.path)"
          """)
      let runs = outcome.output.components(separatedBy: "== ").dropFirst()
      // What each said, and its exit code.
      let said = runs.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
      let codes = runs.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
      #expect(codes == Array(repeating: "0\n", count: 7) + ["4\n"])
      try #require(said.count == 8, "\(outcome)")
      #expect(said[2].contains("\n11 articles\n"))
      #expect(said[3] == "show\n<section>9 </section>\n")
      #expect(said[4].contains("new " + long))
      #expect(said[4].contains("No space left on device"), "it says why it is not kept")
      #expect(said[5].contains("other " + long))
      // Where there was room enough to let the oldest go, it left for the one that did not fit.
      #expect(said[6].contains("\n10 articles, ") || said[6].contains("\n9 articles, "))
      #expect(said[7].contains("No space left on device"))
    }
  }
}
