import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct AggregateTests {
  @Test func `a value that is not JSON is told from one that is nested too deep, and from CBOR`()
    throws
  {
    let shell = try Shell(.plain)
    let deep = String(repeating: "[", count: 201) + String(repeating: "]", count: 201)
    try shell.store.namespace("n").set(deep, for: "deep")
    try shell.store.namespace("n").set("plain", for: "text")
    let cbor: [UInt8] = [0xA1, 0x01, 0x02]
    try shell.store.namespace("n").set(cbor, for: "cbor", EntryAttributes(codec: .cbor))
    try shell("keys @n --where '.x = 1'")
    let deepWords = "nested too deep, by more than 200 arrays and objects"
    #expect(
      shell.notices == [
        "note: 1 of 3 values is not JSON", "note: 1 of 3 values is CBOR that JSON cannot show",
        "note: 1 of 3 values is \(deepWords)",
      ])
    for (key, words) in [
      ("deep", deepWords), ("text", "not JSON"), ("cbor", "CBOR that JSON cannot show"),
    ] {
      #expect(
        try shell.error("get @n \(key) .x").message.description
          == "the value of \"\(key)\" is \(words)")
    }
  }
}
