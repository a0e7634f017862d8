import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

/// Fields are bytes: two values are equal only if their bytes are equal.
struct ByteTests {
  /// One name with an accent in different bytes, such as composed and decomposed UTF-8 and Latin-1. No two names are equal.
  private static let names: [[UInt8]] = [
    Array("andr\u{E9}".utf8), Array("andre\u{301}".utf8), Array("andr".utf8) + [0xE9],
    Array("andr\u{F7E9}".utf8), Array("andr\u{FFFD}".utf8), Array("andre9".utf8),
  ]

  private static func carrying(_ name: String, _ value: [UInt8]) -> HTTPRequest {
    var request = LarderHTTPTests.request()
    request.headerFields.append(HTTPField(name: .init(name)!, value: value))
    return request
  }

  @Test func `different values have different texts`() {
    let texts = Self.names.map { value in
      Array(HTTPField(name: .cookie, value: value).faithfulText.utf8)
    }
    #expect(Set(texts).count == Self.names.count)
  }

  /// Swift treats `@` and the accent after it as one character, so a search for the character `@` would not find the password.
  @Test func `a password is no part of a key, whatever byte comes after it`() {
    let request = LarderHTTPTests.request(host: "andre:secret@\u{301}example.com")
    #expect(ResponseKey(request)?.host == "%CC%81example.com")
    #expect(ResponseKey(request)?.base.contains("secret") == false)
    #expect(Principal(request, policy: HTTPCachePolicy()).digest != nil)
  }

  @Test(arguments: ["Authorization", "Cookie"])
  func `credentials of different bytes share no response`(name: String) {
    let harness = HTTPHarness()
    harness.rules.policy.partitionFields = [.cookie]
    for value in Self.names {
      let request = Self.carrying(name, value)
      #expect(!harness.isHit(request))
      harness.prime("max-age=100", request: request)
      #expect(harness.isHit(request))
    }
  }

  @Test(arguments: ["X-User", "Cookie", "Accept-Language"])
  func `RFC 9111, 4.1: Vary compares bytes`(name: String) {
    let harness = HTTPHarness()
    for value in Self.names {
      let request = Self.carrying(name, value)
      #expect(!harness.isHit(request))
      harness.prime("max-age=100", [("Vary", name)], request: request)
      #expect(harness.isHit(request))
    }
    let (first, second) = ("\u{E9}", "e\u{301}")
    #expect(VaryKey(fields: [("a", first)]) != VaryKey(fields: [("a", second)]))
    #expect(VaryKey(fields: [("a", first)]) == VaryKey(fields: [("a", first)]))
  }

  @Test func `validators are compared by their bytes`() {
    #expect(EntityTag("\"\u{E9}\"") != EntityTag("\"e\u{301}\""))
    #expect(EntityTag("W/\u{338}").isWeak, "a combining character does not hide the mark")
    let harness = HTTPHarness()
    var first = response(200, [("Cache-Control", "max-age=0")])
    first.headerFields.append(HTTPField(name: .lastModified, value: [0xFC]))
    _ = harness.ask { _ in (first, "body") }
    for (byte, count) in [(UInt8(0xFC), 1), (0xFD, 2)] {
      let result = harness.ask { request in
        guard request.headerFields.contains(.ifModifiedSince) else { return (response(), "new") }
        var newer = response(304)
        newer.headerFields.append(HTTPField(name: .lastModified, value: [byte]))
        return (newer, "")
      }
      #expect(result.sent.count == count)
    }
  }

  @Test(arguments: [
    ("W/\"a\"", "\"a\"", false), ("W/\"a\"", "W/\"a\"", true), ("\"a\"", "W/\"a\"", true),
    ("\"a\"", "\"a\"", true),
  ])
  func `RFC 9111, 4.3.4: a strong tag makes no response with a weak tag strong`(
    stored: String, newer: String, isSame: Bool
  ) {
    for method in ["GET", "HEAD"] {
      let harness = HTTPHarness(holding: "max-age=2", [("ETag", stored)], age: 3)
      let fields: Pairs = [("Cache-Control", "max-age=100"), ("ETag", newer)]
      let result = harness.ask(request(method)) { request in
        request.method == .head
          ? (response(200, fields), "")
          : request.headerFields.contains(.ifNoneMatch)
            ? (response(304, fields), "") : (response(200, fields), "new")
      }
      if method == "HEAD" {
        #expect(harness.held.isEmpty != isSame)
      } else {
        #expect(result.sent.count == 1 && result.body == "body")
        let tag = harness.held.values.first?.response.entityTag?.text
        #expect(tag == (isSame ? newer : stored))
      }
    }
  }
}
