import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Long heads and bodies of an HTTP cache: the value is the body, and the metadata hold the lines above it. The sessions
/// `responses` have the short ones.
@Suite struct StoredResponseTests {
  private func shell(_ metadata: String) throws -> Shell {
    let shell = try Shell()
    var attributes = EntryAttributes()
    attributes.metadata = bytes(metadata)
    try shell.store.namespace("http").set(bytes("{\"a\":1}"), for: "page", attributes)
    return shell
  }

  @Test func `the beginning of a long body is shown, and no character is halved`() throws {
    let text = [UInt8](String(repeating: "\u{E9}", count: 2_100_000).utf8)
    let shell = try shell("larder-http/2 200 OK\nbody 1\nlength 4200000\nparts 4200000\n\n")
    try shell.store.namespace("http").set(text, for: "body 1 0")
    let shown = try shell("get @http page")
    #expect(shown.hasPrefix("4.2 MB, in \"body 1 0\"  written now"))
    #expect(shown.contains("\n\n\u{E9}\u{E9}") && shown.utf8.count < 17_000)
    #expect(shown.hasSuffix("... 4.2 MB more: get --full, --out FILE\n"))
  }

  @Test func `a long head is cut`() throws {
    let fields = (0..<1000).map { "X-\($0): \(String(repeating: "v", count: 40))\n" }.joined()
    let text = try shell("larder-http/1 204 \nrequested 1\nreceived 2\n\n" + fields)(
      "get @http page")
    #expect(
      text.utf8.count < 17_000 && text.contains(" more: get --full") && text.contains("\n{ \"a\""))
  }
}
