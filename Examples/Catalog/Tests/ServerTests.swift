import Catalog
import ExampleTesting

/// Servers that leave fields out, or send funnels that cannot be read.
@Suite(.fixture(Fixture.self)) struct ServerTests {
  private let fixture = Fixture.current

  @Test func `an answer without optional fields is a whole catalog`() async throws {
    fixture.server.become { _ in
      .init(
        200, ["Cache-Control": "max-age=300", "ETag": "\"1\""],
        text: #"""
          {"data": {"pillars": [{"pillar": {"id": "p", "title": "Sleep"},
            "funnels": [{"id": "1", "slug": "naps", "title": "Naps"}]}]}}
          """#)
    }
    let all = try await fixture.catalog().all()
    #expect(all.slugs == ["naps"] && all.uncategorized.isEmpty)
    #expect(fixture.server.count == 1)
  }

  /// The good one is on the same page as the others.
  private static let mixed = #"""
    {"data": {"pillars": [
      {"pillar": {"id": "p", "title": "Sleep"}, "funnels": [
        {"id": "1", "slug": "naps", "title": "Naps"}, {"id": "2", "slug": "walks", "title": null}, 7]},
      {"pillar": {"id": 5}, "funnels": []}],
     "uncategorized_funnels": [{"id": "3", "title": "No slug"}]}}
    """#

  @Test func `funnels that cannot be decoded are skipped and listed`() async throws {
    let server = fixture.server
    server.become { _ in .init(200, ["Cache-Control": "max-age=300"], text: Self.mixed) }
    let all = try await fixture.catalog().all()
    #expect(all.slugs == ["naps"] && all.pillars.map(\.pillar.title) == ["Sleep", "5"])
    #expect(
      all.skipped == [
        "walks: data.pillars[0].funnels[1].title is null",
        "data.pillars[0].funnels[2] is not an object",
        "3: data.uncategorized_funnels[0].slug is missing",
      ])
    #expect(server.count == 1, "the page is stored as any other")
    let program = try TestedProgram("larder-catalog", store: "store")
    let list = try await program.run("list", "--server", server.base, "--token", "one")
    #expect(list.code == 4 && list.output.contains("\n1 funnel\n"), "\(list)")
    #expect(list.error.contains("left out: walks: ") && list.error.contains("\nerror: 3 parts "))
    let json = try await program.answer(CatalogContents.self, "list", "--offline", "--user", "b")
    #expect(json.skipped.isEmpty)
    server.become { _ in
      .init(200, text: #"{"data": {"pillars": [], "uncategorized_funnels": [7]}}"#)
    }
    await #expect(throws: ServiceError.self) { try await fixture.catalog(user: "two").all() }
  }

  @Test func `null lists are empty, and funnels of a pillar that is null have none`() async throws {
    let pillars = #"""
      {"pillar": {"id": "p", "title": null, "key": "sleep"}, "funnels": null}, {"pillar": {"id": "q"}},
      {"pillar": null, "funnels": [{"id": "1", "slug": "naps", "title": "Naps"}]}
      """#
    fixture.server.become { _ in
      .init(
        200, ["Cache-Control": "max-age=300"],
        text:
          #"{"data": {"pillars": [\#(pillars)], "uncategorized_funnels": null, "pagination": {}}}"#)
    }
    let all = try await fixture.catalog().all()
    #expect(all.pillars.map(\.pillar.title) == ["sleep", "q"] && all.slugs == ["naps"])
    #expect(all.skipped == ["a pillar is null"])
    fixture.server.become { _ in .init(200, text: #"{"data": {"pillars": null}}"#) }
    #expect(try await fixture.catalog(user: "two").all() == CatalogContents())
    fixture.server.become { request in
      let next = request.parameter("cursor") == nil ? #""a""# : "null"
      let funnel = #"{"id": \#(next), "slug": "s", "title": "t"}"#.replacing("null", with: "2")
      return .init(
        200,
        text:
          #"{"data": {"pillars": [], "uncategorized_funnels": [\#(funnel)], "pagination": {"nextCursor": \#(next)}}}"#
      )
    }
    #expect(try await fixture.catalog(user: "three").all().slugs.count == 2)
  }

  @Test func `a funnel is on a page once, and fields of other types are no fault`() async throws {
    fixture.server.become { _ in
      .init(
        200, ["Cache-Control": "max-age=300"],
        text: #"""
          {"data": {"pillars": [{"pillar": {"id": 9, "title": "Sleep", "sort_order": "3"}, "funnels": [
            {"id": 1, "slug": "naps", "title": "Naps", "pillar_id": 7, "est_duration_min": 7.5},
            {"id": "1", "slug": "naps", "title": "Naps"}]}],
           "uncategorized_funnels": [{"id": "1", "slug": "naps", "title": "Naps"}]}}
          """#)
    }
    let all = try await fixture.catalog().all()
    #expect(all.slugs == ["naps"] && all.skipped.isEmpty)
    #expect(all.pillars.map(\.pillar.id) == ["9"] && all.pillars.map(\.pillar.order) == [3])
    #expect(all.funnels[0].pillarID == "7" && all.funnels[0].minutes == nil)
    #expect(fixture.server.count == 1)
  }

  @Test func `numbers as text, and text as numbers, are no fault`() async throws {
    fixture.server.become { request in
      let id = request.parameter("cursor") == nil ? "1" : "\"2\""
      return .init(
        200, ["Cache-Control": "max-age=300"],
        text: #"""
          {"data": {"pillars": [{"pillar": {"id": 7, "title": 8, "sort_order": "9", "key": []}, "funnels": [
            {"id": \#(id), "slug": \#(id), "title": 2025, "est_duration_min": "7", "is_active": "true", "outcomes": {}}]}],
           "pagination": {"limit": "50", "hasMore": "\#(id == "1")", "nextCursor": 12}}}
          """#)
    }
    let all = try await fixture.catalog().all()
    #expect(all.slugs == ["1", "2"] && all.skipped.isEmpty && all.pillars.count == 1)
    #expect(all.pillars[0].pillar.id == "7" && all.pillars[0].pillar.order == 9)
    #expect(all.funnels[0].title == "2025" && all.funnels[0].minutes == 7)
  }

  @Test func `an empty cursor is none`() async throws {
    fixture.fake.fill(120)
    fixture.fake.change { $0.stuckCursor = "" }
    await #expect(throws: CatalogError.missingCursor) { try await fixture.catalog().all() }
    #expect(fixture.server.count == 1)
  }
}
