import ExampleTesting

@testable import Articles

/// The images that a page shows, in every notation.
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
    ("<!-- <img src='https://a.b/1.png'> --><img src='https://a.b/2.png'>", ["https://a.b/2.png"]),
    (
      "<script>'<img src=\"https://a.b/1.png\">'</SCRIPT><img src='https://a.b/2.png'>",
      ["https://a.b/2.png"]
    ), ("<image src='https://a.b/1.png'><p title=\"<img src='https://a.b/2.png'>\">", []),
    ("<img src='https://a.b/1.png'><img src=\"https://a.b/1.png#x\">", ["https://a.b/1.png"]),
    ("<img src='https://a.b/1.png", ["https://a.b/1.png"]),
    ("a < b <> </p><3 <img src=https://a.b/1.png", ["https://a.b/1.png"]),
    ("<img = src='https://a.b/1.png'>", ["https://a.b/1.png"]),
    ("<!-- never closed <img src='https://a.b/1.png'>", []),
    (
      """
      <picture><source type="image/webp" srcset="https://a.b/1.webp 1x, https://a.b/2.webp 2x">
      <source src="https://a.b/never.mp4"><img srcset='https://a.b/1.png 1x' src='https://a.b/2.png'></picture>
      """,
      [
        "https://a.b/1.webp", "https://a.b/2.webp", "https://a.b/1.png", "https://a.b/2.png",
      ]
    ),
  ]) func `each way to say so`(html: String, expected: [String]) {
    #expect(images(html) == expected)
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
