import ExampleTesting

@testable import Catalog

/// The built program, tested from outside, over the recording in the repository.
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
      list --offline --tier plus         | evening-light
      list --offline --limit 5           | 3 fetched_
      show feet --offline                | "slug": "feet"
      show feet --offline --no-network   | "slug": "feet"
      show feet --definition --offline   | How many steps
      refresh feet --offline             | ^1 removed,
      sign-out                           | ^0 removed,
      sign-out --offline                 | removed,
      list --offline --no-network = 4    | ! cannot be reached
      show nosuch --offline = 1          | ! ^error: the service answered 404
      list --offline --limit 7 = 4       | ! Pagination cursor is invalid
      list --limit 0 = 2                 | ! a page of 0 funnels is not possible
      """)
  }

  @Test func `a recording leaves the user's pages alone, and faults are named`() async throws {
    fixture.fake.fill(3)
    let list = "list --server \(fixture.server.base)/api --token ' one '"
    try await program.check(
      """
      \(list)           | 3 funnels_pages: 0 fresh, 0 unchanged, 1 fetched
      sign-out --offline | removed
      \(list)           | 3 funnels_pages: 1 fresh
      """)
    fixture.server.become { _ in
      .init(
        json:
          #"{"data": {"pillars": [], "uncategorized_funnels": [{"id": 1, "slug": "a", "title": "b"}, 7]}}"#
      )
    }
    try await program.check(
      "\(list) --refresh = 4 | 1 funnel_ | ! ^left out: data. | ! error: 1 part ")
  }
}
