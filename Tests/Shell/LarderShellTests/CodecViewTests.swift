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
