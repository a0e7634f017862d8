import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct BodyTests {
  @Test
  func `RFC 9111, 3.3: a body that breaks off is passed on as far as it came, and not stored`()
    async throws
  {
    let fixture = try Fixture(
      .giving([("Cache-Control", "max-age=100"), ("Content-Length", "10")]) {
        .steps([{ [1, 2, 3] }, { throw Origin.Down() }])
      })
    let result = try await fixture.cache.send(request())
    var pieces: [[UInt8]] = []
    await #expect(throws: Origin.Down.self) {
      for try await piece in result.body { pieces.append(piece) }
    }
    #expect(pieces == [[1, 2, 3]])
    #expect(try fixture.store.namespace("http").count() == 0)
  }

  @Test func `a body longer than the policy stores passes through`() async throws {
    let fixture = try Fixture(
      .giving([("Cache-Control", "max-age=100")]) { .pieces },
      policy: HTTPCachePolicy(largestBody: 2500))
    #expect(try await fixture.cache.send(request()).body.bytes().count == 5000)
    #expect(try fixture.store.namespace("http").count() == 0)
  }
}
