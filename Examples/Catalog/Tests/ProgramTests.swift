import ExampleTesting

/// The built program, tested from outside, over the recording in the repository.
@Suite(.fixture(Fixture.self)) struct ProgramTests {
  private let fixture = Fixture.current
  private let program = TestedProgram("larder-catalog", store: "my catalog")

  @Test func `a recording leaves the user's pages alone, and faults are named`() async throws {
    fixture.fake.fill(3)
    let list = "list --server \(fixture.server.base)/api --token ' one '"
    try await program.check(
      """
      \(list)           | 3 funnels_pages: 0 fresh, 0 unchanged, 1 fetched
      sign-out --offline | removed
      \(list)           | 3 funnels_pages: 1 fresh
      """)
    let funnels = #"[{"id": 1, "slug": "a", "title": "b"}, 7]"#
    fixture.server.become { _ in
      .init(json: #"{"data": {"pillars": [], "uncategorized_funnels": \#(funnels)}}"#)
    }
    try await program.check(
      "\(list) --refresh = 4 | 1 funnel_ | ! ^left out: data. | ! error: 1 part ")
  }
}
