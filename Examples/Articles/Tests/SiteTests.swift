import ExampleTesting

@testable import Articles

/// HTML of strangers, made safe.
@Suite struct SafeHTMLTests {
  private func sanitized(_ html: String) -> String {
    let base = URL(string: "https://p.example/a/b")
    return SafeHTML(base: base, imageBase: base) {
      $0 == "https://p.example/kept.png" ? "images/1.png" : nil
    }.sanitized(html)
  }

  @Test(arguments: [
    ("<p>a <b>b</b> &amp; c</p>", "<p>a <b>b</b> &amp; c</p>"), ("<script>alert(1)</script>x", "x"),
    ("<SCRIPT SRC=https://evil/x.js></SCRIPT >x", "x"),
    ("<scr<script>ipt>alert(1)</script>", "ipt&gt;alert(1)"), ("<script>never closed <p>x", ""),
    ("<p onclick=alert(1) OnError='x' style=\"x:url(//e)\" class=c id=i>x</p>", "<p>x</p>"),
    ("<p/onmouseover=alert(1)>x", "<p>x</p>"),
    ("<a href=\"javascript:alert(1)\">x</a>", "<a>x</a>"),
    ("<a href=\" ja\tva\nscript:alert(1)\">x</a>", "<a>x</a>"),
    ("<a href=\"&#106;avascript:alert(1)\">x</a>", "<a>x</a>"),
    ("<a href=\"data:text/html,<script>1</script>\">x</a>", "<a>x</a>"),
    ("<a href=\"vbscript:x\">x</a><a href=\"file:///etc/passwd\">y</a>", "<a>x</a><a>y</a>"),
    (
      "<a href=\"../c?d=1&amp;e=2\" target=_blank>x</a>",
      "<a href=\"https://p.example/c?d=1&amp;e=2\" rel=\"noreferrer\">x</a>"
    ),
    (
      "<a href='/w/Go (language)?q=a b\n&amp;r=%20'>x</a>",
      "<a href=\"https://p.example/w/Go%20(language)?q=a%20b&amp;r=%20\" rel=\"noreferrer\">x</a>"
    ),
    (
      "<a href='/Z\u{FC}rich%20(See)?u=http%3A%2F%2Fy|50%'>x</a>",
      "<a href=\"https://p.example/Z%C3%BCrich%20(See)?u=http%3A%2F%2Fy%7C50%25\" rel=\"noreferrer\">x</a>"
    ),
    (
      "<a href=' mailto:a@b.example?subject=c d '>x</a>",
      "<a href=\"mailto:a@b.example?subject=c%20d\" rel=\"noreferrer\">x</a>"
    ),
    (
      "<a href='javascript&colon;x'>x",
      "<a href=\"https://p.example/a/javascript&amp;colon;x\" rel=\"noreferrer\">x</a>"
    ),
    (
      "<img src=/x.png alt='Caf&eacute; &amp;eacute; a&b'>",
      "<span class=\"missing\">Caf&eacute; &amp;eacute; a&b</span>"
    ),
    ("<p title='&eacute;&quot;&lt;'>&eacute;</p>", "<p title=\"&eacute;&quot;&lt;\">&eacute;</p>"),
    ("<img src=kept.png onerror=alert(1) alt=x>", "<span class=\"missing\">x</span>"),
    (
      "<img src=/kept.png onerror=alert(1) alt='a\"b'>",
      "<img src=\"images/1.png\" alt=\"a&quot;b\">"
    ), ("<img src=https://evil/track.gif alt=x>", "<span class=\"missing\">x</span>"),
    ("<img src=https://evil/t.gif srcset='/kept.png 2x'>", "<img src=\"images/1.png\" alt=\"\">"),
    ("<svg onload=alert(1)><text>x</text></svg>", "x"),
    ("<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>", ""),
    ("<iframe src=https://evil></iframe><object data=x></object><embed src=x>y", "y"),
    ("<form action=https://evil><input name=a><button>x</button></form>", "x"),
    ("<base href=https://evil><meta http-equiv=refresh content='0;url=x'><link rel=x>y", "y"),
    ("<style>@import url(https://evil)</style>x", "x"),
    ("<!-- <script> --><p>x</p><!-- never closed <p>y", "<p>x</p>"),
    ("<!--><p>x</p><!---><p>y</p><!-- a --!><p>z</p>", "<p>x</p><p>y</p><p>z</p>"),
    ("<!----><p>x</p><!-- > -> -- > --><p>y</p>", "<p>x</p><p>y</p>"),
    ("<svg><title/><style a='b' /></svg><p>x</p>", "<p>x</p>"),
    ("<svg><style a=b/>.c{}</style></svg><p>x</p>", "<p>x</p>"),
    ("<svg/><svg></svg><title/>t</title><p>x</p>", "<p>x</p>"),
    ("</article></div></body><p>x", "<p>x</p>"), ("<b><i>x</b>y</i>z", "<b><i>x</i></b>yz"),
    ("<div><p>x", "<div><p>x</p></div>"),
    ("a < b > c <3 <> </> <", "a &lt; b &gt; c &lt;3 &lt;&gt;  &lt;"),
    (
      "<p title='\"><script>alert(1)</script>'>x</p>",
      "<p title=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\">x</p>"
    ), ("<textarea></textarea><title>t</title><noscript><p>x</p></noscript>", "<p>x</p>"),
    ("<video autoplay src=https://evil><source src=x>old browser</video>", "old browser"),
    ("<?php x ?><![CDATA[<script>]]>y", "]]&gt;y"),
    (
      "<p lang=de dir=rtl title=t datetime=d>x</p>",
      "<p lang=\"de\" dir=\"rtl\" title=\"t\" datetime=\"d\">x</p>"
    ),
  ]) func `each attack comes to nothing`(html: String, expected: String) {
    #expect(
      sanitized(html).trimmingCharacters(in: .whitespaces)
        == expected.trimmingCharacters(in: .whitespaces))
  }

  @Test func `any bytes give closed elements and allowed attributes`() {
    var random = SeededRNG(seed: TestSettings.seed)
    let pieces = [
      "<", ">", "\"", "'", "=", "/", " ", "\n", "&", "<!--", "-->", "<a href=", "javascript:",
      "<img src=", "/kept.png", "onerror=", "<script", "</script>", "<p>", "</p>", "<svg>",
      "<table>", "</b>", "<b ", "x", "\u{0}", "\u{E9}",
    ]
    for _ in 0..<500 {
      let html = (0..<60).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let safe = sanitized(html)
      for address in ImageAddresses.all(in: html, from: "https://p.example/a/b") {
        #expect(address.hasPrefix("http"), "LARDER_SEED=\(TestSettings.seed): \(html)")
      }
      var open: [String] = []
      for token in HTMLTokens(safe) {
        switch token {
        case .text: continue
        case .close(let name):
          #expect(open.popLast() == name, "LARDER_SEED=\(TestSettings.seed): \(html)")
        case .open(let tag):
          #expect(!["script", "svg", "style"].contains(tag.name))
          for (name, value) in tag.attributes {
            #expect(["href", "rel", "src", "alt", "class"].contains(name), "\(html)")
            if name == "href" { #expect(value.hasPrefix("http"), "\(html)") }
          }
          if tag.name != "img" { open.append(tag.name) }
        }
      }
      #expect(
        open.isEmpty && sanitized(safe).count >= 0, "LARDER_SEED=\(TestSettings.seed): \(html)")
    }
    #expect(sanitized(String(repeating: "<div>", count: 100_000)).utf8.count < 2_000)
  }
}

/// The page of `site`, in a browser.
@Suite(.fixture(Fixture.self)) struct SiteTests {
  private let fixture = Fixture.current

  private static let browser = [
    "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  /// A picture of two by one pixels.
  private static let picture =
    Data(base64Encoded: "R0lGODlhAgABAIAAAP8AAP///yH5BAAAAAAALAAAAAACAAEAAAICBAoAOw==") ?? Data()

  /// Two articles, of which one attacks.
  private func fill() async throws {
    fixture.readeck.fill(2, images: 1)
    for number in 0..<2 {
      let path = "/img/\(FakeReadeck.id(number))-0"
      fixture.readeck.set(.init(bytes: Array(Self.picture), type: "image/gif"), at: path)
    }
    let base = fixture.server.base
    fixture.readeck.change(FakeReadeck.id(1)) { page in
      page.title = "<img src=x onerror=\"top.pwned=1\">"
      page.html += """
        <script>top.pwned = 1</script><img src=x onerror="top.pwned=1"><svg onload="top.pwned=1"></svg>
        <a href="javascript:top.pwned=1" onclick="top.pwned=1">x</a><iframe src="\(base)/frame"></iframe>
        <img src="\(base)/remote.png"><link rel=stylesheet href="\(base)/style.css"></article></body>
        """
    }
    #expect(try await fixture.sync().images == 2)
    _ = fixture.asked()
  }

  @Test func `the page has the stored articles, and replaces its own kind only`() async throws {
    try await fill()
    fixture.network.fail()
    let folder = try TemporaryFolder()
    let site = folder.url.appending(path: "my site")
    for _ in 1...2 {
      let report = try await fixture.reader.writeSite(to: site)
      #expect(report.articles == 2 && report.images == 2)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.path + "/images").count == 2)
    let other = folder.url.appending(path: "index.html")
    _ = try folder.write("index.html", Array("mine".utf8))
    await #expect(throws: SiteError.self) { try await fixture.reader.writeSite(to: folder.url) }
    #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
    await #expect(throws: SiteError.self) {
      try await fixture.reader.writeSite(to: URL(filePath: "/proc/x"))
    }
  }

  @Test(.enabled(if: browser != nil, "skipped: no chromium"))
  func `a browser shows text and images, runs nothing and loads nothing else`() async throws {
    try await fill()
    let folder = try TemporaryFolder()
    _ = try await fixture.reader.writeSite(to: folder.url)
    // A page of the test looks into that page.
    _ = try folder.write(
      "look.html",
      Array(
        """
        <iframe src="index.html"></iframe><pre id=out></pre><script>
        onload = () => {
          const page = frames[0].document, images = [...page.images]
          document.getElementById("out").textContent = [
            page.querySelectorAll("body > article").length, images.length, images.every(i => i.naturalWidth == 2),
            page.scripts.length, typeof top.pwned, frames[0].getComputedStyle(page.body).maxWidth != "none",
          ].join(" ")
        }
        </script>
        """.utf8))
    let outcome = try await Outcome(
      line: """
        timeout 60 '\(Self.browser ?? "")' --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --user-data-dir='\(folder.url.path)/profile' --virtual-time-budget=5000 --dump-dom \
        'file://\(folder.url.path)/look.html'
        """)
    #expect(
      outcome.output.contains("<pre id=\"out\">2 2 true 0 undefined true</pre>"), "\(outcome)")
    #expect(fixture.server.count == 0, "\(fixture.server.received.map(\.path))")
  }
}
