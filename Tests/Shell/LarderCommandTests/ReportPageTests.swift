import Foundation
import TestSupport
import Testing

/// The page of `report` in a browser, if one is installed.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ReportPageTests {
  static let browser = ["chromium", "chromium-browser", "google-chrome"]
    .compactMap(CompletionScriptTests.path).first

  private let fixture = ProgramFixture()

  /// The console messages of the browser, and the bytes of its picture of a page.
  private func look(
    at page: String, width: Int = 1000
  ) throws -> (console: [String], picture: Data) {
    let answer = try fixture.answer(
      to: """
        \(try #require(Self.browser)) --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir=$PWD/browser --hide-scrollbars --window-size=\(width),2000 \
        --enable-logging=stderr --screenshot=$PWD/\(page).png file://$PWD/\(page).html
        """)
    let picture = URL(fileURLWithPath: fixture.home.path + "/\(page).png")
    return (
      answer.split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") },
      try Data(contentsOf: picture)
    )
  }

  @Test(.enabled(if: browser != nil, "no browser is installed"))
  func `a browser shows the page and has nothing to complain of`() throws {
    _ = try fixture.answer(
      to: """
        larder store --create -q -e 'set @a k v --ttl 1h' -e 'set @b "<script>alert(1)</script>" x' \
        -e 'set @b "</svg><img src=x onerror=alert(1)>" 12345' -e 'report page.html'
        """)
    try fixture.home.write("<!DOCTYPE html><html><body></body></html>", to: "empty.html")
    try fixture.home.write(
      "<!DOCTYPE html><html><body><script>console.error('!')</script></body></html>",
      to: "faulty.html")
    let (console, picture) = try look(at: "page")
    #expect(console == [])
    // The picture of an empty page is small.
    let empty = try look(at: "empty").picture
    #expect(picture.count > 4 * empty.count, "\(picture.count) and \(empty.count) bytes")
    #expect(try look(at: "faulty").console.count == 1)
  }

  @Test(.enabled(if: browser != nil, "no browser is installed"), arguments: [500, 700, 1000])
  func `no text of the page is cut, whatever the width and the names`(width: Int) throws {
    let name = String(repeating: "long.namespace", count: 7)
    let key = String(repeating: "key/without/spaces/", count: 10)
    _ = try fixture.answer(
      to: """
        larder store --create -q -e 'set @\(name) "\(key)" v --ttl 1h' -e 'set @b k v' \
        -e 'limits @\(name) --bytes 10MB' -e 'report page.html' -e 'report one.html @\(name)'
        """)
    // A script in a copy of the page reports each text that ends outside the window or is too long for its place.
    let script = """
      <script>for (const e of document.querySelectorAll("h1, h2, p, dt, dd, dd span, th, td")) {
      if (e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
      console.log("cut: " + e.outerHTML.slice(0, 200)) } console.log("looked at " + innerWidth)</script>
      """
    for page in ["page", "one"] {
      let text = try String(contentsOfFile: fixture.home.path + "/\(page).html", encoding: .utf8)
      try fixture.home.write(
        text.replacingOccurrences(of: "</body>", with: script + "</body>"), to: "\(page)2.html")
      let console = try look(at: page + "2", width: width).console
      #expect(console.count == 1 && console[0].contains("looked at \(width)"), "\(console)")
    }
  }
}
