import ExampleTesting

@testable import Articles

/// Bodies of articles, some of them difficult, answers that are no article, and the forms of the fields of bookmarks.
@Suite(.fixture(Fixture.self)) struct BodyTests {
  private let fixture = Fixture.current

  @Test(arguments: [
    (200, "text/html; charset=utf-8", "\n<!DOCTYPE html><html>log in", "login page"),
    (200, "text/html", "<head><title>log in</title>", "login page"),
    (200, "application/json", #"{"message": "sign in"}"#, "application/json"),
    (200, "text/html", " \n", "its end is missing"),
    (200, "text/html", "<section><p>One</p> two", "its end is missing"),
    (200, "text/html", "<section><p title='</section>'>x</p>", "its end is missing"),
    (200, "text/html", "<section><!-- </section> -->x", "its end is missing"),
    (302, "text/html", "", "answered 302"),
  ]) func `a body that is no whole article fails alone`(
    status: Int, type: String, body: String, reason: String
  ) async throws {
    fixture.readeck.fill(2)
    fixture.answer(FakeReadeck.body(0)) {
      $0 = .init(status, ["Content-Type": type, "Location": "/moved"], text: body)
    }
    let result = try await fixture.sync()
    #expect(result.stored == 1 && result.failed == 1 && result.error == nil)
    #expect(result.failures.first?.contains(reason) == true, "\(result)")
    #expect(try fixture.stored() == [1])
  }

  @Test func `bytes that are not UTF-8 are replaced`() async throws {
    fixture.readeck.fill(1)
    let body = Data([0x41, 0xE9, 0x42, 0xC3, 0xA9])
    fixture.answer(FakeReadeck.body(0)) {
      $0 = .init(200, ["Content-Type": "text/html"], body: body)
    }
    #expect(try await fixture.open(0).html == "A\u{FFFD}B\u{E9}")
  }

  private func bookmark(_ fields: String) throws -> Bookmark {
    try JSONDecoder().decode(Bookmark.self, from: Data("{\(fields)}".utf8))
  }

  @Test func `an id may be a number, and a number text; all fields stay`() throws {
    let read = try bookmark(#""id": 17, "updated": "", "read_progress": "100", "title": 5"#)
    #expect(read.id == "17" && read.isRead && read.name == "17")
    for id in ["1.5", "true", "null", #""""#, "[]", "9007199254740993"] {
      #expect(throws: DecodingError.self, "\(id)") { try bookmark(#""id": \#(id), "updated": """#) }
    }
    let row = #"{"hash":9007199254740991,"id":7,"updated":"2026-01-01T10:00:00.123456Z"}"#
    let large = try JSONDecoder().decode(Bookmark.self, from: Data(row.utf8))
    #expect(large.changed.map { "\($0)" } == "2026-01-01T10:00:00.000Z")
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(try String(decoding: encoder.encode(large), as: UTF8.self) == row)
  }
}

/// The images that a page shows, in each notation.
@Suite struct ImageAddressTests {
  private func images(_ html: String) -> [String] {
    ImageAddresses.all(in: html, from: "https://read.example/api/bookmarks/x/article")
  }

  @Test(arguments: [
    ("<img src=\"https://a.b/1.png\">", ["https://a.b/1.png"]),
    ("<img src='https://a.b/1.png'/>", ["https://a.b/1.png"]),
    ("<IMG ALT=x SRC=https://a.b/1.png>", ["https://a.b/1.png"]),
    ("<img\n  alt='a > b'\n  src = \"https://a.b/it's.png\" >", ["https://a.b/it's.png"]),
    ("<img src=\"/img/1.png\">", ["https://read.example/img/1.png"]),
    ("<img src=\"1.png\">", ["https://read.example/api/bookmarks/x/1.png"]),
    ("<img src=\"../../../bm/1.png\">", ["https://read.example/bm/1.png"]),
    ("<img src=\"//cdn.example/1.png\">", ["https://cdn.example/1.png"]),
    ("<img src=\"?size=2\">", ["https://read.example/api/bookmarks/x/article?size=2"]),
    ("<img src=\"https://a.b/w_1,h_2/1,2.png\">", ["https://a.b/w_1,h_2/1,2.png"]),
    ("<img src=\"https://a.b/1?a=1&amp;b=2&c=&#51;&#x34;#top\">", ["https://a.b/1?a=1&b=2&c=34"]),
    ("<img src=\" https://a.b/1.png\n\">", ["https://a.b/1.png"]),
    ("<img src='/a%20b c\u{E9}%.png'>", ["https://read.example/a%20b%20c%C3%A9%25.png"]),
    ("<img src=\"data:image/png;base64,AAAA,BBBB\">", []),
    ("<img src=\"\"><img><img alt=x><img src>", []),
    ("<img src=\"blob:https://a.b/1\"><img src=\"cid:1\"><img src=\"javascript:x\">", []),
    ("<img data-src='https://a.b/1.png'>", []),
    ("<image src='https://a.b/1.png'><p title=\"<img src='https://a.b/2.png'>\">", []),
    ("<img src='https://a.b/1.png'><img src=\"https://a.b/1.png#x\">", ["https://a.b/1.png"]),
    ("<img src='https://a.b/1.png", ["https://a.b/1.png"]),
    ("a < b <> </p><3 <img src=https://a.b/1.png", ["https://a.b/1.png"]),
    ("<img = src='https://a.b/1.png'>", ["https://a.b/1.png"]),
    (
      """
      <picture><source type="image/webp" srcset="https://a.b/1.webp 1x, https://a.b/2.webp 2x">
      <source src="https://a.b/never.mp4"><img srcset='https://a.b/1.png 1x' src='https://a.b/2.png'></picture>
      """,
      ["https://a.b/1.webp", "https://a.b/2.webp", "https://a.b/1.png", "https://a.b/2.png"]
    ),
  ]) func `each way to say so`(html: String, expected: [String]) {
    #expect(images(html) == expected)
  }

  @Test func `an address that is too long for a key is omitted`() {
    #expect(images("<img src='/\(String(repeating: "a", count: 70_000))'>") == [])
  }

  @Test(.timeLimit(.minutes(1))) func `many commas in an address take no quadratic time`() {
    let name = "/a" + String(repeating: ",", count: 60_000) + "b"
    #expect(images("<img srcset='\(name) 1x'>") == ["https://read.example" + name])
  }

  @Test(arguments: [
    ("https://a.b/1.png", ["https://a.b/1.png"]), ("/a.png 1x, /b.png 2x", ["/a.png", "/b.png"]),
    ("/a.png 100w,/b.png 200w", ["/a.png", "/b.png"]), ("/a.png, /b.png", ["/a.png", "/b.png"]),
    ("/w_1,h_2/a.png 1x, /w_2,h_4/a.png 2x", ["/w_1,h_2/a.png", "/w_2,h_4/a.png"]),
    ("data:image/png;base64,AA 1x, /b.png 2x", ["/b.png"]),
    (" ,, /a.png 1x ,\n /b.png ", ["/a.png", "/b.png"]), ("", []), (" , ", []),
  ]) func `a set of candidates`(set: String, expected: [String]) {
    let addresses = expected.map { $0.hasPrefix("/") ? "https://read.example" + $0 : $0 }
    #expect(images("<img srcset='\(set)'>") == addresses)
  }
}
