import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct SelectionWalkTests {
  /// The keys that a selection must give. This function tests every entry to find these keys.
  private func expected(
    _ selection: Selection, _ entries: [(Store.Entry, [UInt8])]
  ) throws -> [[UInt8]] {
    let test = EntryTest(selection, QueryRun(now: stockholm.now) {})
    return try entries.filter { entry, value in
      try (entry.state != .expired || selection.wantsExpired) && test.passesKey(entry.key.bytes)
        && test.passesFacts(entry) && test.passesValue(entry, value.span)
    }.map(\.0.key.bytes)
  }

  @Test func `a walk finds what looking at everything finds, in the order of keys`() throws {
    var random = SeededRNG()
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    let letters = ["a", "b", "ab", "ba", "\u{F6}", "1"]
    for _ in 0..<400 {
      let key = (0...4).map { _ in letters.randomElement(using: &random)! }.prefix(
        Int.random(in: 1...5, using: &random)
      ).joined()
      let lifetime: Expiration =
        Bool.random(using: &random)
        ? .never : .after(.seconds(Int.random(in: 1...7200, using: &random)))
      try box.set(
        String(repeating: "x", count: Int.random(in: 0...50, using: &random)), for: key,
        expires: lifetime)
      shell.clock.advance(by: .milliseconds(500))
    }
    for length in [249, 250, 251, 252, 300] {
      try box.set("long", for: String(repeating: "a", count: length))
    }
    var all: [(Store.Entry, [UInt8])] = []
    try box.scan(includingExpired: true) { entry, value in
      all.append((entry, value.bytes))
      return true
    }
    let words = [
      "a*", "b*", "*a", "ab", "?a", "{a,b}1*", "ba*", "1", "a", "nope", "[!a]*", "aa*",
      "--expired", "--permanent", "--larger 20", "--smaller 30", "--expiring 1h", "--older 1m",
      "--newer 1m", "--match '*1*'", "--match a*", "--regex '^[ab]+$'", "--contains xxxxxxxxxx",
    ]
    for _ in 0..<300 {
      let line =
        "keys @box "
        + (0...3).compactMap { _ in words.randomElement(using: &random) }
        .prefix(Int.random(in: 0...3, using: &random)).joined(separator: " ")
      guard let selection = try? invocation(line, shell.session.wallClock).selection else {
        continue  // The line has a filter twice, which is an error.
      }
      var walk = try SelectionWalk(selection, in: [box], for: shell.session)
      var found: [[UInt8]] = []
      let batch = Int.random(in: 1...50, using: &random)
      while case let entries = try walk.next(batch), !entries.isEmpty {
        #expect(entries.count <= batch)
        found += entries.map(\.key.bytes)
      }
      let expected = try expected(selection, all)
      #expect(found == expected, "LARDER_SEED=\(random.seed): \(line)")
      guard selection.needsKeysOnly else { continue }
      let limit = Int.random(in: 1...600, using: &random)
      let rest = expected.filter { bytes("ab").lexicographicallyPrecedes($0) }.prefix(limit)
      #expect(
        try shell("\(line) --after ab --limit \(limit)")
          == rest.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined(),
        "LARDER_SEED=\(random.seed): \(line)")
    }
  }

  @Test func `a fixed beginning is all that is read`() throws {
    let shell = try Shell(.plain)
    try shell.fill("box", 10_000..<20_000)
    shell.stepsUntilInterrupted = 20
    #expect(try shell("keys @box 1234*").split(separator: "\n").count == 10)
    shell.stepsUntilInterrupted = 5
    #expect(try shell("keys @box 12345 12999") == "12345\n12999\n")
    shell.stepsUntilInterrupted = 20
    #expect(try shell("keys @box --match 1234?").split(separator: "\n").count == 10)
    shell.stepsUntilInterrupted = 20
    #expect(try shell.error("keys @box *1234").code == .interrupted)
  }
}

/// One shell lists keys, and another shell reads these keys with `--stdin` in the same form.
@Suite struct ListingRoundTripTests {
  private func fill(_ shell: Shell, _ keys: Set<[UInt8]>) throws {
    for key in keys { try shell.store.namespace("a").set("x", for: key) }
  }

  /// Each form of output with the options for reading keys in this form.
  @Test(arguments: [
    (OutputMode.plain, "--stdin"), (.plain, "--stdin -0"), (.json, "--stdin --json"),
    (.jsonl, "--stdin --json"),
  ])
  func `a listing names exactly the entries that it lists`(mode: OutputMode, options: String) throws
  {
    let endsWithNUL = options.contains("-0")
    var random = SeededRNG()
    for round in 0..<30 {
      var all: Set<[UInt8]> = []
      for _ in 0..<40 {
        var key = random.awkwardBytes(upTo: 20)
        if Int.random(in: 0..<4, using: &random) == 0 {
          // A program may name an entry by an integer, which is a key of eight bytes.
          key = (0..<8).map { UInt8(truncatingIfNeeded: round >> (56 - 8 * $0)) }
        }
        if endsWithNUL { key.removeAll { $0 == 0 } }
        if !key.isEmpty { all.insert(key) }
      }
      let listed = Set(all.filter { _ in Bool.random(using: &random) })
      let lister = try Shell(mode) { $0.endsWithNUL = endsWithNUL }
      try fill(lister, listed)
      let listing = try lister.bytes("keys @a --limit all")
      if mode != .plain {
        let isSafe = listing.lines.allSatisfy { String(decoding: $0, as: UTF8.self).isSafe }
        #expect(isSafe, "LARDER_SEED=\(random.seed)")
      }
      let reader = try Shell(.plain)
      try fill(reader, all)
      reader.input = listing
      try reader("evict @a \(options) --yes")
      let left = Set(try reader.store.namespace("a").keys().map(\.bytes))
      #expect(left == all.subtracting(listed), "LARDER_SEED=\(random.seed): \(options)")
    }
  }

  @Test(arguments: [
    "keys @a", "ttl @a", "keys @a --reverse", "keys @a --sort size", "keys @a --show 'key as k'",
    "sizes @a --by key --top all", "get @a *",
  ]) func `a key with a NUL is refused before anything is listed`(line: String) throws {
    let shell = try Shell(.plain) { $0.endsWithNUL = true }
    for number in 0..<1200 { try shell.store.namespace("a").set("x", for: "key \(number)") }
    try shell.store.namespace("a").set("x", for: [0x7A, 0, 1])
    let error = try shell.error(line)
    #expect(error.code == .usage && error.message.description.contains("NUL"))
    #expect(error.hint?.description.contains("--stdin") == true)
    #expect(shell.printed.isEmpty)
    #expect(try shell("set @b hex:7a00 v", "exists @a hex:7a0001") == "set\0b\0z\0\0true\0")
  }
}
