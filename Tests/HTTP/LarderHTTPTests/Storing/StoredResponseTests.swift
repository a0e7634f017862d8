import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct StoredResponseTests {
  @Test func `a response is kept as long as it may be of use`() {
    func kept(_ fields: Pairs) -> Int64 {
      let stored = StoredResponse(
        response: response(200, fields), requested: start, received: start, bodySize: 0,
        vary: .empty)
      return start.duration(to: stored.keptUntil(policy: HTTPCachePolicy())).components.seconds
    }
    let (day, month) = (Int64(86_400), Int64(30 * 86_400))
    #expect(kept([("Cache-Control", "max-age=300, must-revalidate")]) == 300)
    #expect(kept([("Cache-Control", "max-age=300, must-revalidate"), ("ETag", "\"1\"")]) == month)
    #expect(kept([("Cache-Control", "max-age=300")]) == 300 + day)
    #expect(kept([("Cache-Control", "max-age=300, stale-if-error=1000000")]) == 1_000_300)
    #expect(kept([("Cache-Control", "max-age=31536000"), ("ETag", "\"1\"")]) == 31_536_000 + day)
    #expect(kept([("Cache-Control", "no-cache")]) == 0)
    #expect(kept([]) == 0)
  }

  @Test func `metadata leads back to the same response, byte for byte`() throws {
    var stored = StoredResponse(
      response: HTTPResponse(
        status: .init(code: 299, reasonPhrase: "So so"),
        headerFields: HTTPFields([
          ("ETag", "W/\"\u{FC}\""), ("x", ""), ("X-y", " a: b "), ("x", "2"),
        ])), requested: start, received: start.advanced(by: .milliseconds(1)), bodySize: 7,
      vary: VaryKey(fields: [("a", "b=c d"), ("e", nil), ("f", "")]), credential: "abc")
    stored.response.headerFields.append(HTTPField(name: .eTag, value: [0x22, 0xFC, 0xFF, 0x22]))
    let bytes = stored.encodedMetadata()
    let again = try #require(StoredResponse(metadata: bytes, bodySize: 7))
    #expect(again == stored)
    #expect(again.fields.map(\.name.rawName) == stored.fields.map(\.name.rawName))
    #expect(again.response.status.reasonPhrase == "So so")
    #expect(again.encodedMetadata() == bytes)
  }

  @Test func `metadata that is none is not believed`() {
    let good = StoredResponse(
      response: response(200, [("a", "b")]), requested: start, received: start, bodySize: 0,
      vary: .empty
    ).encodedMetadata()
    #expect(StoredResponse(metadata: good, bodySize: 0) != nil)
    #expect(StoredResponse(metadata: [], bodySize: 0) == nil)
    #expect(
      StoredResponse(metadata: Array("larder-http/2".utf8) + good.dropFirst(13), bodySize: 0) == nil
    )
    for count in 0..<good.count {
      // Metadata that are cut must not trap, and must not give fields that the whole metadata do not have.
      let cut = StoredResponse(metadata: Array(good.prefix(count)), bodySize: 0)
      #expect(cut?.fields.allSatisfy { $0.name.rawName == "a" } ?? true)
    }
  }
}
