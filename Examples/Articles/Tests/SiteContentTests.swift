import ExampleTesting

@testable import Articles

/// Pictures, drawings and unclosed elements in the page of `site`.
@Suite(.fixture(Fixture.self)) struct SiteContentTests {
  private let fixture = Fixture.current

  private func sanitized(_ html: String) -> String {
    let base = URL(string: "https://p.example/a/b")
    return SafeHTML(base: base, imageBase: base) {
      $0.hasPrefix("https://p.example/kept") ? "images/\($0.last ?? "x")" : nil
    }.sanitized(html)
  }

  @Test(arguments: [
    (
      "<picture><source srcset='/no.webp 2x, /kept1 1x'><img src='data:image/gif;base64,R0' alt=a></picture>",
      "<img src=\"images/1\" alt=\"a\">"
    ),
    (
      "<picture><source srcset=/kept1><img src=/kept2></picture>",
      "<img src=\"images/2\" alt=\"\">"
    ),
    (
      "<picture><source srcset=/kept1></picture><img src=x alt=a>",
      "<span class=\"missing\">a</span>"
    ),
    (
      "<picture><source srcset=/kept1></picture><picture><img src=x alt=a></picture>",
      "<span class=\"missing\">a</span>"
    ),
  ]) func `a picture is shown by a stored source`(html: String, expected: String) {
    #expect(sanitized(html) == expected)
  }

  @Test func `each source of a picture is looked for once`() {
    let count = Atomic(0)
    let picture = SafeHTML(base: nil, imageBase: URL(string: "https://p.example/")) { _ in
      count.wrappingAdd(1, ordering: .relaxed)
      return nil
    }
    let sources = (1...100).map { "<source srcset=/\($0)>" }.joined()
    let images = String(repeating: "<img src=/x>", count: 100)
    #expect(picture.sanitized("<picture>\(sources)\(images)</picture>") == "")
    #expect(count.load(ordering: .relaxed) == 200)
  }

  @Test(arguments: [
    ("<p>a<p>b<div>c", "<p>a</p><p>b</p><div>c</div>"),
    (
      "<ul><li>a<li>b<ul><li>c</ul><li>d",
      "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"
    ),
    (
      "<table><tr><td>a<td>b<p>c<tr><th>d<tbody><tr><td>e<table><tr><td>f",
      "<table><tr><td>a</td><td>b<p>c</p></td></tr><tr><th>d</th></tr><tbody><tr><td>e"
        + "<table><tr><td>f</td></tr></table></td></tr></tbody></table>"
    ), ("<dl><dt>a<dd>b<p>c<dt>d", "<dl><dt>a</dt><dd>b<p>c</p></dd><dt>d</dt></dl>"),
    (
      "<p><a href=https://x.example/>b<a>c",
      "<p><a href=\"https://x.example/\" rel=\"noreferrer\">b</a><a>c</a></p>"
    ),
    ("<p>a<table><td><p>b</table>c", "<p>a</p><table><td><p>b</p></td></table>c"),
    ("<li>a<p>b<li>c", "<li>a<p>b</p></li><li>c</li>"),
  ]) func `elements without end tags end as in a browser`(html: String, expected: String) {
    #expect(sanitized(html) == expected)
  }

  @Test(arguments: ["<p>", "<li>", "<dd>", "<td>", "<tr><td>", "<option>"])
  func `links and breaks stay behind many elements without end tags`(element: String) {
    let html =
      String(repeating: element + "x", count: 200) + "<a href='https://x.example/'>y</a><br>"
    #expect(
      sanitized(html).contains(
        "<a href=\"https://x.example/\" rel=\"noreferrer\">y</a><br>"), "\(element)")
    #expect(sanitized(String(repeating: "<b>", count: 200) + "x<br>y").contains("x<br>y"))
  }

  @Test(arguments: [
    ("<path d='M0 0'/><use xlink:href='#a'/><g fill=\"url(#b)\"/><desc>A transcript</desc>", true),
    ("<image href=\"data:image/png;base64,R0\"/><style>.a{fill:url( '#b')}</style>", true),
    ("<sodipodi:namedview/><text>on a ship; srcset: none</text>", true), ("<script/>", false),
    ("<SCRIPT>alert(1)</SCRIPT>", false), ("<svg:script>x</svg:script>", false),
    ("<title><script>x</script></title>", false), ("<g onload = 'x()'/>", false),
    ("<g\nOnClick='x()'/>", false), ("<image href='http://evil/x'/>", false),
    ("<image xlink:href = \"//evil/x\"/>", false), ("<use href='data:image/svg+xml,x'/>", false),
    ("<a href='java&#115;cript:alert(1)'>x</a>", false),
    ("<animate attributeName='href' values='javascript:x'/>", false),
    ("<set attributeName=\"xlink:href\" to=\"http://evil\"/>", false),
    ("<g fill='url(http://evil/x)'/>", false), ("<style>@import 'x'</style>", false),
    ("<style>.a{fill:\\75rl(http://evil)}</style>", false), ("<scr\u{1B}(Bipt>x", false),
    ("<foreignObject><p>x</p></foreignObject>", false),
    // References, sections and comments may hide a word.
    ("<style>@i&#109;port 'x'</style>", false), ("<style>@im<!-- -->port 'x'</style>", false),
    ("<style><![CDATA[@im]]>port 'x'</style>", false), ("<style>@i&a;port 'x'</style>", false),
    ("<g style='fill:u&#114;l(http://evil/x)'/>", false),
    ("<g style='fill:u&#0000000114;l(http://evil/x)'/>", false),
    ("<set attributeName='h&#x72;ef' to='http://evil'/>", false),
    ("<a href='#x'><set attributeName='x' to='java&#115;cript:alert(1)'/></a>", false),
    ("<g style='fill:u&colon;l(http://evil/x)'/>", false), ("<g xml:base='http://evil/'/>", false),
    ("<x:script xmlns:x='http://www.w3.org/2000/svg'/>", false),
    ("<x:script xmlns:x='http://www.w3.org/1999/xhtml'/>", false),
    ("<g xmlns='http://www.w3.org/1999/xhtml'/>", false), ("<g a='<script>'/>", false),
    ("<g fill=red/>", false), ("<g><![CDATA[x</g>", false), ("<!--", false), ("<?php x?>", false),
    (
      "<style><![CDATA[.a{fill:red}]]></style><text font-family='&quot;A&quot;'>&#8217;</text>",
      true
    ),
    ("<rdf:RDF><cc:Work rdf:about=''/></rdf:RDF><g inkscape:file='C:\\a'/>", true),
    ("<filter><feOffset dx='1'/></filter><g style='filter:url(&quot;#a&quot;)'/>", true),
    ("<rect><animate attributeName='width' to='9'/></rect><text><![CDATA[<script>]]></text>", true),
  ]) func `a drawing is safe if it runs and loads nothing`(contents: String, isSafe: Bool) {
    #expect(
      SafeDrawing.isSafe(Array("<svg xmlns='http://www.w3.org/2000/svg'>\(contents)</svg>".utf8))
        == isSafe)
  }

  @Test(arguments: [
    ("<!DOCTYPE svg [<!ENTITY a 'b'>]>", false), ("<!DOCTYPE svg SYSTEM '><!--'>", true),
    ("<!DOCTYPE svg [<!ATTLIST svg onload CDATA 'x'>]>", false),
    ("<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/x.dtd\">", true),
    ("<?xml-stylesheet href='#x'?>", false), ("<?xml version='1.0' encoding='UTF-7'?>", false),
    ("<?xml version='1.0'?>", true),
    ("\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- -->", true),
  ]) func `a drawing declares nothing`(beginning: String, isSafe: Bool) {
    #expect(SafeDrawing.isSafe(Array("\(beginning)<svg/>".utf8)) == isSafe)
    // In the quotes of a document type nothing is hidden.
    #expect(!SafeDrawing.isSafe(Array("\(beginning)<svg><script/></svg><!-- -->".utf8)))
  }

  @Test func `a drawing with a script is left out and named`() async throws {
    fixture.readeck.fill(1, images: 2)
    for (number, contents) in ["<script>alert(1)</script>", "<path/>"].enumerated() {
      fixture.readeck.set(
        .init(bytes: Array("<svg>\(contents)</svg>".utf8), type: "image/svg+xml"),
        at: "/img/\(FakeReadeck.id(0))-\(number)")
    }
    #expect(try await fixture.sync().images == 2)
    let folder = try TemporaryFolder()
    let report = try await fixture.reader.writeSite(to: folder.url)
    #expect(report.leftOut == [fixture.address("/img/\(FakeReadeck.id(0))-0")])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path + "/images")
    #expect(report.images == 1 && files.count == 1)
  }
}
