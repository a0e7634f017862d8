import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Entries of an HTTP cache: the value is the body, and the metadata hold the lines above it.
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
    // At a terminal, all forms for people are escaped; `raw` with `--force` prints the bytes themselves.
    #expect(try shell(.raw) { $0.isTerminal = true }("get '\(key)' --force") == "{\"a\":1}")
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
    "note\nlarder-http/1 200 OK\n\n", "larder-http/1 200\n\n", "larder-http/1 099 OK\n\n",
    "larder-http/1 200 OK\nrequested\n\n", "larder-http/1 200 OK\n\nX:v\n",
  ])
  func `metadata of another kind is not shown`(metadata: String) throws {
    #expect(
      try shell(metadata: bytes(metadata))("get '\(key)'")
        == "7 B  written now  never expires\n{ \"a\": 1 }\n")
  }

  /// A shell with a response whose body is `{"a":[0,1,...]}` in parts of 1,000 bytes, and the body.
  private func shellWithParts(
    _ mode: OutputMode = .plain, hasPerson: Bool = false, missing: Int? = nil,
    second: (inout [UInt8]) -> Void = { _ in }
  ) throws -> (Shell, body: String) {
    let body = "{\"a\":[" + (0..<500).map(String.init).joined(separator: ",") + "],\"b\":7}"
    let shell = try Shell(mode, hasPerson: hasPerson)
    let namespace = shell.store.namespace("http")
    var attributes = EntryAttributes()
    attributes.metadata = bytes(
      "larder-http/2 200 OK\nrequested 1\nreceived 2\nbody 9f86d0\nlength \(body.utf8.count)\nparts 1000\n\nETag: \"1\"\n"
    )
    try shell.store.write { batch in
      try batch.set([UInt8](), for: key, in: namespace, attributes)
      try batch.set([UInt8](), for: "body 9f86d0", in: namespace, EntryAttributes())
      for (index, start) in stride(from: 0, to: body.utf8.count, by: 1000).enumerated()
      where index != missing {
        var part = Array(body.utf8.dropFirst(start).prefix(1000))
        if index == 1 { second(&part) }
        try batch.set(part, for: "body 9f86d0 \(index)", in: namespace, EntryAttributes())
      }
    }
    return (shell, body)
  }

  @Test func `a body in entries of its own is put together`() throws {
    let (shell, body) = try shellWithParts()
    #expect(try shell("echo x", "get @http '\(key)'", "echo y") == "x\n\(body)\ny\n")
    #expect(try shellWithParts().0("get @http '\(key)'") == body)
    #expect(
      try shellWithParts().0("get @http '\(key)' --head 1500").utf8
        .elementsEqual(body.utf8.prefix(1500)))
    #expect(try shell("get @http '\(key)' .b") == "7\n")
    #expect(try shell("get @http 'https://'* .b") == "\(key)\t7\n")
    #expect(try shell("get @http 'https://'*") == "\(key)\t\(body)\n")
    #expect(try shell("get @http '\(key)' 'body 9f86d0'").contains("\(key)\t\(body)\n"))
    #expect(try shell("diff @http '\(key)' '\(key)'") == "")
    #expect(
      try shell("info @http '\(key)'").contains("entries \"body 9f86d0 0\" to \"body 9f86d0 1\""))
    try shell("get @http '\(key)' --out \(shell.file)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: shell.file)) == Data(body.utf8))
    #expect(try shell("output raw", "get @http '\(key)'") == body)
    #expect(
      try shell("output jsonl", "get @http '\(key)' --as json")
        .hasSuffix("\"value_json\":\(body)}\n"))
    let (table, _) = try shellWithParts(.table, hasPerson: true)
    let shown = try table("get @http '\(key)'")
    #expect(shown.hasPrefix("1.9 kB, in 2 entries \"body 9f86d0 0\" to \"body 9f86d0 1\"  written"))
    #expect(shown.contains("\nETag: \"1\"\n\n{\n  \"a\": ["))
    try table("get @http '\(key)' --copy")
    #expect(table.takeAside().contains("copied \(body.utf8.count)"))
    #expect(
      try table.error("edit @http '\(key)'").message.description.contains("entries of its own"))
  }

  @Test func `a body without one of its parts is an error and never an empty value`() throws {
    for missing in 0...1 {
      let (shell, _) = try shellWithParts(missing: missing)
      for form in ["", " --as json", " .b", " --head 1500"] {
        let error = try shell.error("get @http '\(key)'\(form)")
        #expect(error.code == .unreadable && error.code.exitCode == 4)
        #expect(error.message.description.contains("no entry \"body 9f86d0 \(missing)\" in http"))
      }
    }
    let (cut, _) = try shellWithParts { $0.removeLast() }
    #expect(try cut("get @http '\(key)' --head 10") == "{\"a\":[0,1,")
    #expect(try cut.error("get @http '\(key)'").code == .unreadable)
  }

  @Test(arguments: [
    "body zz\nlength 5\nparts 1", "body 1\nlength -1\nparts 1", "body 1\nlength 5\nparts 0",
    "body 1\nlength 9223372036854775807\nparts 1", "length 5\nparts 1",
    "body 1\nlength 5\nparts 99999999999999999999",
  ])
  func `a body that no metadata can describe is none`(lines: String) throws {
    let shell = try shell(.plain, metadata: bytes("larder-http/2 200 OK\n\(lines)\n\n"))
    #expect(try shell("get '\(key)'") == "{\"a\":1}")
  }

  @Test func `the beginning of a long body is shown, and no character is halved`() throws {
    let text = [UInt8](String(repeating: "\u{E9}", count: 2_100_000).utf8)
    let head = "larder-http/2 200 OK\nbody 1\nlength 4200000\nparts 4200000\n\n"
    let shell = try shell(metadata: bytes(head))
    try shell.store.namespace("http").set(text, for: "body 1 0")
    let shown = try shell("get @http '\(key)'")
    #expect(shown.hasPrefix("4.2 MB, in \"body 1 0\"  written now"))
    #expect(shown.contains("\n\n\u{E9}\u{E9}") && shown.utf8.count < 17_000)
    #expect(shown.hasSuffix("... 4.2 MB more: get --full, --out FILE\n"))
  }

  @Test func `a body that is longer than memory is not put together`() throws {
    let head = "larder-http/2 200 OK\nbody 1\nlength 999999999999999\nparts 100000\n\n"
    let shell = try shell(.json, metadata: bytes(head))
    let error = try shell.error("get '\(key)'")
    #expect(error.code == .overLimit && error.message.description.hasSuffix("has 1 PB"))
    #expect(error.hint?.description.contains("--out FILE") == true)
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
