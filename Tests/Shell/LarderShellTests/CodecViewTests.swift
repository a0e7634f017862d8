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
    #expect(
      try shell("get @\(namespace) k --as json").trimmingCharacters(in: .newlines)
        == "{\"count\":-3,\"hex\":\"/wAA\",\"name\":\"red\",\"share\":0.5}")
    #expect(try shell("verify --deep") == "")
  }

  @Test func `into a pipe go the bytes as they are stored`() throws {
    let shell = try Shell(.plain)
    try fill(shell.store)
    let stored: [UInt8] = try #require(try shell.store.namespace("cbor").value(for: "k"))
    #expect(try shell.bytes("get @cbor k") == stored)
  }

  @Test func `a person sees the form and the codec`() throws {
    let shell = try Shell(.table)
    try fill(shell.store)
    let cbor = try shell("get @cbor k")
    #expect(cbor.contains("cbor, ") && cbor.contains("\"name\": \"red\""))
    #expect(try shell("get @versioned k").contains("version 7 of json, "))
  }
}

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
