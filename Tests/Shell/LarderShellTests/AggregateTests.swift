import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct AggregateTests {
  private func shell(_ mode: OutputMode = .plain) throws -> Shell {
    let shell = try Shell(mode)
    let values = [
      ("a", #"{"c":"x","p":1,"items":[{"price":1},{"price":20}],"tags":["r","g","r"]}"#),
      ("b", #"{"c":"x","p":2,"items":[{"price":300}],"tags":["g"]}"#),
      ("d", #"{"c":"y","p":4,"items":[],"tags":[]}"#),
    ]
    for (key, value) in values { try shell("set @n \(key) '\(value)'") }
    return shell
  }

  @Test(arguments: [
    // Every element counts.
    ("sum .items[].price @n", "321\t3\t1\n"), ("max .items[].price @n", "300\t3\t1\n"),
    ("min .items[].price @n a", "1\t2\t0\n"), ("avg .items[].price @n a", "10.5\t2\t0\n"),
    ("sum .items[].price @n --by .c", "x\t321\t3\t0\ny\tnull\t0\t1\n"),
    // An entry is in the group of each element once.
    ("sum .p @n --by .tags[]", "null\t4\t1\t0\ng\t3\t2\t0\nr\t1\t1\t0\n"),
    // A limit is one of groups.
    ("sum .p @n --by .c", "x\t3\t2\t0\ny\t4\t1\t0\n"),
    ("sum .p @n --by .c --limit 1", "x\t3\t2\t0\n"),
    ("avg .p @n --by .c --limit 1", "x\t1.5\t2\t0\n"),
    ("sum .p @n --limit 2", "3\t2\t0\n"),
  ])
  func `an aggregate takes every element and whole groups`(line: String, answer: String) throws {
    #expect(try shell()(line) == answer)
  }

  @Test(arguments: [
    // A column has every element; without one it is null, as without the field.
    (
      "keys @n --show 'key,.items[].price,.tags[] as t'",
      "a\t[1,20]\t[\"r\",\"g\",\"r\"]\nb\t[300]\t[\"g\"]\nd\tnull\tnull\n"
    ),
    ("keys @n --show key,.absent[]", "a\tnull\nb\tnull\nd\tnull\n"),
    (
      "keys @n --show key,length(.tags[]),.items.price,.tags",
      "a\t[1,1,1]\tnull\t[\"r\",\"g\",\"r\"]\nb\t[1]\tnull\t[\"g\"]\nd\tnull\tnull\t[]\n"
    ),
    // The smallest element in the order, and the largest in reverse.
    ("keys @n --sort .items[].price", "d\na\nb\n"),
    ("keys @n --sort .tags[]", "d\na\nb\n"),
    ("keys @n --sort .tags[] --reverse", "a\nb\nd\n"),
  ])
  func `a column and an order take every element`(line: String, answer: String) throws {
    #expect(try shell()(line) == answer)
  }

  @Test func `an order goes by the last elements, too`() throws {
    let shell = try Shell(.plain)
    for (key, value) in [("a", "[5,1]"), ("b", "[2,3]"), ("c", "[4,9]")] {
      try shell("set @n \(key) '\(value)'")
    }
    #expect(try shell("keys @n --sort .[]") == "a\nb\nc\n")
    #expect(try shell("keys @n --sort .[] --reverse") == "c\na\nb\n")
  }

  @Test func `every element of two arrays has no meaning`() throws {
    let error = try shell().error("sum .items[].price @n --by .tags[]")
    #expect(error.message.description == "sum and --by cannot both take every element")
  }

  @Test func `lengths of time add up exactly`() throws {
    let shell = try Shell(.json)
    for number in 1...3 {
      try shell("set @n k\(number) v")
      shell.clock.advance(by: .milliseconds(100_100 + number))
    }
    #expect(try shell("sum age @n").hasPrefix("{\"sum\":600.614,"))
    #expect(try shell("avg age @n").hasPrefix("{\"avg\":200.205,"))
    #expect(try shell("output table", "sum age @n").hasPrefix("sum of age   10 min "))
  }

  @Test func `a sum that is no number is empty in CSV`() throws {
    let shell = try Shell(.csv)
    try shell("set @n k '{\"x\":1e308}'", "set @n l '{\"x\":1.5e308}'")
    #expect(
      try shell("sum .x @n").split(separator: "\r\n").last?.hasPrefix(",.x,") == true)
  }

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
