import Larder
import TestSupport
import Testing

/// The programs of `Docs/Limits.md`.
@Suite struct LimitsPage {
  @Test func `declaring limits`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let store = try Store(at: path)
      try store.declare(StoreLimits(bytes: .megabytes(200), disk: .megabytes(500)))
      try store.declare(
        Rules(expires: .after(.days(7)), limits: Limits(entries: 1_000, bytes: .megabytes(50))),
        for: "pages")
      // An operator's, over the declared.
      try store.override(Rules.Overrides(limits: Limits(entries: 100)), for: "pages")
      let pages = try #require(try store.namespaces().first)
      #expect(pages.rules.limits == Limits(entries: 100, bytes: .megabytes(50)))
      #expect(try store.verify().isSound)
      try store.close()
    }
  }
}
