import Larder
import TestSupport
import Testing

/// The programs of `Docs/Use/Limits.md`.
@Suite struct LimitsPage {
  @Test func `declaring limits`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      let store = try Store(at: path)
      try store.declare(StoreLimits(bytes: .megabytes(200), disk: .megabytes(500)))
      try store.declare(
        Rules(expires: .after(.days(7)), limits: Limits(entries: 1_000, bytes: .megabytes(50))),
        for: "pages")
      // An operator's override of the declared limit.
      try store.override(Rules.Overrides(limits: Limits(entries: 100)), for: "pages")
      let pages = try #require(try store.namespaces().first)
      #expect(pages.rules.limits == Limits(entries: 100, bytes: .megabytes(50)))
      #expect(try store.verify().isSound)
      try store.close()
    }
  }

  @Test func `a store without a disk limit`() throws {
    try withTemporaryDirectory { directory in
      let archive = try Store(
        at: directory + "/archive", options: Store.Options(limits: .unlimited))
      #expect(try archive.limits().effective.disk == nil)
      try archive.close()
    }
  }

  @Test func `rules with a version`() throws {
    let store = try Store.temporary()
    let recent = store.cache(
      of: String.self, in: "recent", rules: Rules(limits: Limits(entries: 500), version: 2))
    try recent.set("v", for: "k")
    #expect(try recent.namespace.info()?.declared.version == 2)
  }
}
