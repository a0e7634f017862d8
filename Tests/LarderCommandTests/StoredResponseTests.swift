import Foundation
import Testing

/// What the HTTP cache stores and what the shell shows of it are written apart, over a format that has a name.
@Suite struct StoredResponseTests {
  private static let isBuilt = FileManager.default.isExecutableFile(
    atPath: Fixture.programs + "/LarderPeer")

  @Test(.enabled(if: isBuilt, "LarderPeer is not built"))
  func `a response is shown with its status and fields, and a pipe gets its body`() throws {
    let fixture = try Fixture()
    #expect(
      try fixture.answer(to: "printf 'GET /a\\n' | LarderPeer http store")
        == "open\n1 peer\nclosed\n")
    let shown = try fixture.answer(
      to: "larder store -o table -e 'get https://example.com/a'"
    ).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(shown.first?.hasPrefix("4 B  written ") == true)
    #expect(
      shown.dropFirst().filter { !$0.hasPrefix("Date: ") } == [
        "HTTP 200 OK", "Cache-Control: max-age=1000", "ETag: \"peer\"", "\\n", "peer", "",
      ])
    #expect(try fixture.answer(to: "larder store -e 'get https://example.com/a'") == "peer\n")
  }
}
