import Catalog
import ExampleTesting

/// The built program, from outside, over the recording in the repository.
@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program: TestedProgram

  init() throws { program = try TestedProgram("larder-catalog", store: "my catalog") }

  @Test func `the recorded catalog is read by pages, then from the store`() async throws {
    try await program.check(
      """
      list --offline --limit 5           | Others_  first-aid-box
      list --offline --limit 5           | pages: 3 fresh, 0 unchanged, 0 fetched_
      """)
    let counts = try await Outcome(
      line: "larder '\(program.store)' -e 'get @http-statistics catalog.http'")
    #expect(counts.output.hasSuffix("forward uri-miss 3\nhit fresh 3\n"), "\(counts)")
    // Another filter ends the pages.
    try await program.check(
      """
      list --refresh --offline --limit 5 | pages: 0 fresh
      list --offline --no-network --tier plus = 4 | ! cannot be reached
      list --offline --limit 5           | pages: 3 fresh, 0 unchanged, 0 fetched_
      list --offline --tier plus         | after-the-shift | evening-light | naps | 3 funnels_
      list EVENING --offline --tier plus | evening-light | 1 funnel_
      list --offline --limit 5           | 3 fetched_
      """)
  }

  @Test(arguments: [
    (200, #"{"data": {"pillars": ["#, "the service's answer"),
    (429, "", "the service limits requests and asked to wait 10 minutes"),
    (503, "", "the service answered 503"),
  ]) func `a refresh that fails shows the stored pages, and says so`(
    status: Int, body: String, reason: String
  ) async throws {
    fixture.fake.fill(3)
    let list = "list --server \(fixture.server.base)/api --token one"
    try await program.check("\(list) | 3 funnels_pages: 0 fresh")
    fixture.server.become { _ in .init(status, ["Retry-After": "600"], text: body) }
    try await program.check(
      """
      \(list) --refresh = 4 | 3 funnels_pages: 1 fresh, | ! ^stored pages stand in: \(reason) | ! error: the list was not refreshed_
      \(list)               | 3 funnels_pages: 1 fresh,
      """)
  }

  @Test func `a list of stale pages says so, also in JSON, and an error loses no count`()
    async throws
  {
    fixture.fake.fill(3)
    fixture.fake.change { $0.control = "max-age=0, stale-if-error=600" }
    let list = "list --server \(fixture.server.base)/api --token one"
    try await program.check("\(list) | 3 funnels_pages: 0 fresh, 0 unchanged, 1 fetched_")
    fixture.server.become { _ in .init(503) }
    try await program.check(
      """
      \(list) --json | "pages":{"age": | "stale":1, | "fetched":0,
      \(list)        | , 1 stale, up to
      show nosuch --server \(fixture.server.base)/api --token one = 4 | ! answered 503
      """)
    let counts = try await Outcome(
      line: "larder '\(program.store)' -e 'get @http-statistics catalog.http'")
    #expect(counts.output.contains("forward uri-miss 2\n"), "\(counts)")
  }

  @Test func `a stale funnel is shown without a network, and says so`() async throws {
    let folder = program.folder
    _ = try folder.write("funnel.json", Array(#"{"data": {"slug": "f-1"}}"#.utf8))
    let answer = #"""
      [{"path": "/api/funnels/catalog/f-1", "file": "funnel.json",
        "fields": {"Cache-Control": "max-age=0", "ETag": "\"1\""}}]
      """#
    _ = try folder.write("answers.json", Array(answer.utf8))
    let first = try await program.run("show", "f-1", "--offline", "--recording", folder.url.path)
    #expect(first.code == 0 && first.error == "")
    let stale = try await program.run("show", "f-1", "--offline", "--no-network")
    #expect(stale.output == first.output && stale.error.hasSuffix(" old, stale\n"))
  }

  @Test func `one funnel, its questions, and removing them`() async throws {
    let shown = try await program.run("show", "feet", "--offline")
    let bytes = shown.output.utf8.count - 1
    try await program.check(
      """
      show feet --offline --no-network      | "slug": "feet"
      show feet --definition --offline      | How many steps
      refresh feet --offline --json         | {"answers":1,"bytes":\(bytes)}
      refresh feet --offline --json         | {"answers":0,"bytes":0}
      list --offline --limit 5              | 12 funnels_
      sign-out --json                       | {"answers":0,"bytes":0}
      sign-out --offline                    | ^4 answers removed,
      """)
    let left = try Store(at: program.store)
    #expect(
      try left.namespaces().allSatisfy { $0.entries == 0 || $0.name == "http-statistics" },
      "the counts are no user's")
    try left.close()
  }

  @Test func `a recording leaves the user's pages and filter alone`() async throws {
    fixture.fake.fill(3)
    let (base, list) = (fixture.server.base, "list --user me --server")
    try await program.check(
      """
      \(list) \(base)/api --token one --tier plus      | 1 funnel_pages: 0 fresh, 0 unchanged, 1 fetched
      list --offline                                   | 12 funnels_
      sign-out --offline                               | ^1 answer removed,
      \(list) ' \(base.uppercased())/api/ ' --token ' one ' --tier plus | 1 funnel_pages: 1 fresh
      show f-1 --server '\(base.uppercased())/api/' --token ' one ' | "f-1"
      """)
  }

  @Test func `errors have their codes and say what to do`() async throws {
    try await program.check(
      """
      show nosuch --offline = 1      | ! ^error: the service answered 404
      show "" --offline = 2          | ! invalid
      list --offline --limit 7 = 4   | ! Pagination cursor is invalid
      list '' --offline = 2          | ! invalid
      list --tier '' --offline = 2   | ! invalid
      list --user ' ' = 2            | ! the user has no name
      list --limit 0 = 2             | ! a page of 0 funnels is not possible
      """)
    let answers = #"[{"path": "/api/funnels/catalog?limit=50", "file": "absent.json"}]"#
    _ = try program.folder.write("answers.json", Array(answers.utf8))
    let broken = try await program.run(
      "list", "--offline", "--recording", program.folder.url.path, "--refresh")
    #expect(broken.code == 4 && broken.error.hasPrefix("error: the recording's /"))
    #expect(broken.error.contains("/absent.json cannot be read: "))
  }
}
