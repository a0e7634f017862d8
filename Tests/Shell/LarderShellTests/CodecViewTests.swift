import Foundation
import Larder
import LarderCodecs
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct CodecViewTests {
  private struct Color: Codable, Sendable {
    var name: String
    var hex: Data
    var share: Double
    var count: Int
  }

  private func fill(_ store: Store) throws {
    let red = Color(name: "red", hex: Data([255, 0, 0]), share: 0.5, count: -3)
    try store.cache(CBORCodec<Color>(), in: "cbor").set(red, for: "k")
    let versioned = VersionedCodec(JSONCodec<Color>(), version: 7) { try $0.decode(Color.self) }
    try store.cache(versioned, in: "versioned").set(red, for: "k")
  }

  @Test(arguments: ["cbor", "versioned"])
  func `fields can be shown and queried`(_ namespace: String) throws {
    let shell = try Shell(.plain)
    try fill(shell.store)
    #expect(try shell("get @\(namespace) k .name") == "red\n")
    #expect(try shell("get @\(namespace) k .count") == "-3\n")
    #expect(try shell("get @\(namespace) k .hex") == "/wAA\n")
    #expect(try shell("keys @\(namespace) --where '.share < 1'") == "k\n")
    let json = try shell("get @\(namespace) k --as json").trimmingCharacters(in: .newlines)
    #expect(json == "{\"count\":-3,\"hex\":\"/wAA\",\"name\":\"red\",\"share\":0.5}")
    #expect(try shell("verify --deep") == "")
  }

  @Test func `a pipe gets the stored bytes, and a person the form and the codec`() throws {
    let shell = try Shell(.plain)
    try fill(shell.store)
    let stored: [UInt8] = try #require(try shell.store.namespace("cbor").value(for: "k"))
    #expect(try shell.bytes("get @cbor k") == stored)
    let person = try Shell(.table)
    try fill(person.store)
    let cbor = try person("get @cbor k")
    #expect(cbor.contains("cbor, ") && cbor.contains("\"name\": \"red\""))
    #expect(try person("get @versioned k").contains("version 7 of json, "))
  }
}

/// Stored responses of an HTTP cache with long heads and bodies. The value is the body, and the metadata hold the head. The
/// file `responses` in `Tests/Shell/Sessions` tests short heads and bodies.
@Suite struct StoredResponseTests {
  private func shell(_ metadata: String) throws -> Shell {
    let shell = try Shell()
    try shell.store.namespace("http").set(
      bytes("{\"a\":1}"), for: "page", .with(metadata: bytes(metadata)))
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

@Suite struct NegativeEntryTests {
  /// A shell on a store with a negative entry. Two minutes have passed since the load, and the entry expires in ten minutes.
  private func shell(_ mode: OutputMode) async throws -> Shell {
    let shell = try Shell(mode)
    let parts = shell.store.cache(of: String.self, in: "parts")
    let options = LoadOptions(absent: .after(.minutes(12)), waitsForCommit: true)
    let found = try await parts.value(for: "9999", options: options) { _ in .absent }
    #expect(found == nil)
    try await shell.store.namespace("parts").set("", for: "empty")
    shell.clock.advance(by: .minutes(2))
    return shell
  }

  @Test func `an export leaves it out, says so, and lacks nothing else`() async throws {
    let shell = try await shell(.plain)
    #expect(try shell("export \(shell.file)").hasPrefix("1\t0\t"))
    #expect(shell.takeAside() == ["note: 1 negative entry was left out: there is no value"])
    #expect(try shell("diff \(shell.file)") == "")
    #expect(shell.outcome == .done)
    // To other commands the entry is one without a value.
    #expect(try shell("exists 9999 empty") == "false\ntrue\n")
    #expect(shell.outcome == .exitCode(1))
    #expect(try shell("keys") == "9999\nempty\n")
    #expect(try shell.error("set @parts 9999 x --if-present").code == .noSuchKey)
    try shell("set @parts 9999 x --if-absent")
    #expect(try shell("output raw", "get 9999") == "x")
  }

  @Test(arguments: OutputMode.allCases)
  func `get says so in every mode, and prints no empty value`(mode: OutputMode) async throws {
    let shell = try await shell(mode)
    for line in ["get 9999", "get 9999 --as text", "get 9999 --out \(shell.file)"] {
      let error = try shell.error(line)
      #expect(error.code == .noSuchKey && error.code.exitCode == 1)
      let expected = "\"9999\" in parts is a negative entry: it records that there is no value"
      #expect(error.message.description == expected)
      #expect(
        error.hint?.description == "written 2 min ago, expires in 10 min (22:25); `info` shows it")
      #expect(shell.printed == [])
    }
    #expect(!FileManager.default.fileExists(atPath: shell.file))
    #expect(try shell.error("get empty 9999").message.description == "no entry \"9999\" in parts")
    // An empty value counts as a value, so `get` succeeds.
    try shell("get empty")
    #expect(shell.outcome == .done)
  }

  @Test func `info says so in every mode`() async throws {
    let shell = try await shell(.table)
    let table = try shell("info 9999")
    #expect(table.contains("negative       yes\n"))
    #expect(table.hasSuffix("\na negative entry: it records that there is no value\n"))
    let other = try shell("info empty")
    #expect(other.contains("negative       no\n") && !other.contains("nothing"))
    for mode in ["json", "jsonl"] {
      #expect(try shell("output \(mode)", "info 9999").contains("\"negative\":true,"))
      #expect(try shell("info empty").contains("\"negative\":false,"))
    }
    let lines = try shell("output csv", "info 9999").split(separator: "\r\n")
    let column = try #require(
      lines[0].split(separator: ",", omittingEmptySubsequences: false).firstIndex(of: "negative"))
    #expect(lines[1].split(separator: ",", omittingEmptySubsequences: false)[column] == "true")
    #expect(try shell("output plain", "info 9999").contains("\nnegative\ttrue\n"))
    #expect(try shell("output raw", "info 9999").contains("\tfresh\ttrue\t"))
  }

  @Test(arguments: ["evict @parts 9999", "set @parts 9999 x", "clear @parts --yes"])
  func `undo restores it`(line: String) async throws {
    let shell = try await shell(.plain)
    try shell(line, "undo")
    #expect(shell.outcome == .done)
    #expect(try shell("keys @parts", "exists @parts 9999") == "9999\nempty\nfalse\n")
  }
}
