import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Entries that an HTTP cache keeps: the body, and in the metadata what came above it.
@Suite struct StoredResponseTests {
  private static let metadata = """
    larder-http/1 200 OK
    requested 1767225600000
    received 1767225600123
    credential 2c26b46b68ffc68ff99b453c1d304134
    vary accept-language=de,en
    vary accept-encoding

    Date: Thu, 01 Jan 2026 00:00:00 GMT
    ETag: "1"
    Content-Type: application/json
    X-Empty:\u{20}
    Link: <https://a/b>; rel="next"

    """

  private let key = "https://api.example.com/boards/1?limit=5"

  private func shell(
    _ mode: OutputMode = .table, metadata: [UInt8] = bytes(metadata), body: String = "{\"a\":1}",
    _ configure: (inout Settings) -> Void = { _ in }
  ) throws -> Shell {
    let shell = try Shell(mode, configure)
    let namespace = shell.store.namespace("http")
    var attributes = EntryAttributes()
    attributes.metadata = metadata
    attributes.entityTag = bytes("\"1\"")
    try shell.store.write { try $0.set(bytes(body), for: key, in: namespace, attributes) }
    return shell
  }

  @Test func `a person sees the status and the fields above the body`() throws {
    #expect(
      try shell()("get '\(key)'") == """
        7 B  written now  never expires
        HTTP 200 OK
        Date: Thu, 01 Jan 2026 00:00:00 GMT
        ETag: "1"
        Content-Type: application/json
        X-Empty:\u{20}
        Link: <https://a/b>; rel="next"

        { "a": 1 }

        """)
    #expect(
      try shell { $0.hasColor = true }("get '\(key)'").contains("\u{1B}[0m\nHTTP 200 OK\nDate: "))
  }

  @Test func `what a pipe gets is the body alone`() throws {
    for mode in [OutputMode.plain, .raw, .auto] {
      #expect(try shell(mode)("get '\(key)'") == "{\"a\":1}")
    }
    // At a terminal all forms for people are safe, and raw is what was asked for.
    #expect(try shell(.raw) { $0.isTerminal = true }("get '\(key)'") == "{\"a\":1}")
    #expect(try shell(.plain) { $0.isTerminal = true }("get '\(key)'").contains("\nETag: \"1\"\n"))
    for mode in [OutputMode.json, .jsonl] {
      let text = try shell(mode)("get '\(key)'")
      #expect(text.hasSuffix(",\"value\":\"{\\\"a\\\":1}\"}\n") && !text.contains("ETag"))
    }
    #expect(try shell(.csv)("get '\(key)'").hasSuffix(",\"{\"\"a\"\":1}\",\r\n"))
  }

  @Test func `nothing in a status or a field reaches the terminal raw`() throws {
    let text = try shell(
      metadata: bytes(
        "larder-http/1 404 No\u{1B}[2J\nrequested 1\nreceived 2\n\nX\u{7}: \u{202E}\u{9B}31m\r\n")
        + [0x59, 0x3A, 0x20, 0xFF, 0x0A])("get '\(key)'")
    #expect(
      text.contains(
        "\nHTTP 404 No\\e[2J\nX\\x07: \\u{202e}\\u{9b}31m\\r\nY: \\xff\n\n{ \"a\": 1 }\n"))
  }

  @Test(arguments: [
    "", "\n\n", "larder-http/1", "larder-http/1 ", "larder-http/1 20 OK\n\n",
    "larder-http/3 200 OK\n\n",
    "larder-http/1 2xx OK\n\n", "larder-http/1 200 OK\n\nno colon\n",
    "larder-http/1 200 OK\n\n: v\n",
    "note\nlarder-http/1 200 OK\n\n",
  ])
  func `metadata of another kind is not shown`(metadata: String) throws {
    #expect(
      try shell(metadata: bytes(metadata))("get '\(key)'")
        == "7 B  written now  never expires\n{ \"a\": 1 }\n")
  }

  @Test func `a head without fields, and one that is long`() throws {
    let bare = "larder-http/1 204 \nrequested 1\nreceived 2\n\n"
    #expect(
      try shell(metadata: bytes(bare), body: "")("get '\(key)'")
        == "0 B  written now  never expires\nHTTP 204 \n\n")
    let fields = (0..<1000).map { "X-\($0): \(String(repeating: "v", count: 40))\n" }.joined()
    let text = try shell(metadata: bytes(bare + fields))("get '\(key)'")
    #expect(
      text.utf8.count < 17_000 && text.contains(" more: get --full") && text.contains("\n{ \"a\""))
  }
}
