import ExampleTesting

@testable import Catalog

/// The built program, from outside, over the recording in the repository.
@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program: TestedProgram

  init() throws { program = try TestedProgram("larder-catalog", store: "my catalog") }

  @Test func `the recorded catalog is read by pages, then from the store`() async throws {
    try await program.check(
      """
      list --offline --limit 5           | Others_  first-aid-box | pages: 0 fresh, 0 unchanged, 3 fetched_
      list --offline --limit 5           | pages: 3 fresh, 0 unchanged, 0 fetched_
      list --refresh --offline --limit 5 | pages: 0 fresh
      list --offline --no-network --tier plus = 4 | ! cannot be reached
      list --offline --limit 5           | pages: 3 fresh, 0 unchanged, 0 fetched_
      list EVENING --offline --tier plus | evening-light | 1 funnel_
      list --offline --limit 5           | 3 fetched_
      show feet --offline                | "slug": "feet"
      show feet --offline --no-network   | "slug": "feet"
      show feet --definition --offline   | How many steps
      refresh feet --offline --json      | {"answers":1,"bytes":
      sign-out --json                    | {"answers":0,"bytes":0}
      sign-out --offline                 | ^4 answers removed,
      """)
    let counts = try await Outcome(
      line: "larder '\(program.store)' -e 'get @http-statistics catalog.http'")
    #expect(counts.output.contains("hit fresh ") && counts.output.contains("bytes-saved "))
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
    try await program.check("\(list) | 3 funnels_pages: 0 fresh, 0 unchanged, 1 fetched_")
    fixture.server.become { _ in .init(status, ["Retry-After": "600"], text: body) }
    try await program.check(
      """
      \(list) --refresh = 4 | 3 funnels_pages: 1 fresh, | ! ^stored pages stand in: \(reason) | ! error: the list was not refreshed_
      \(list) --json        | "pages":{"age": | "fresh":1,
      """)
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
      """)
  }

  @Test func `errors have their codes and say what to do`() async throws {
    fixture.server.become { _ in
      .init(
        text:
          #"{"data": {"pillars": [], "uncategorized_funnels": [{"id": 1, "slug": "a", "title": "b"}, 7]}}"#
      )
    }
    try await program.check(
      """
      show nosuch --offline = 1      | ! ^error: the service answered 404
      show "" --offline = 2          | ! invalid
      list --offline --limit 7 = 4   | ! Pagination cursor is invalid
      list --tier '' --offline = 2   | ! invalid
      list --user ' ' = 2            | ! invalid
      list --limit 0 = 2             | ! a page of 0 funnels is not possible
      list --server \(fixture.server.base) = 4 | 1 funnel_ | ! ^left out: data. | ! error: 1 part of
      """)
  }
}
