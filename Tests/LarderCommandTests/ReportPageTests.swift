import Foundation
import Testing

/// The page of `report` in a browser, where one is installed.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ReportPageTests {
  static let browser = ["chromium", "chromium-browser", "google-chrome"]
    .compactMap(CompletionScriptTests.path).first

  private let fixture: Fixture
  init() throws { fixture = try Fixture() }

  /// What the browser writes to its console, and the bytes of the picture it makes of a page.
  private func look(at page: String) throws -> (console: [String], picture: Data) {
    let answer = try fixture.answer(
      to: """
        \(try #require(Self.browser)) --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir=$PWD/browser --hide-scrollbars --window-size=1000,2000 \
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
    // A picture without anything on it is small.
    let empty = try look(at: "empty").picture
    #expect(picture.count > 4 * empty.count, "\(picture.count) and \(empty.count) bytes")
    #expect(try look(at: "faulty").console.count == 1)
  }
}
