import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// One shell lists keys, and another shell reads these keys with `--stdin` in the same form.
@Suite struct ListingRoundTripTests {
  private enum Form: String, CaseIterable {
    case plain, nul, json, jsonl

    var mode: OutputMode {
      switch self {
      case .plain, .nul: .plain
      case .json: .json
      case .jsonl: .jsonl
      }
    }

    /// The options that read this form.
    var words: String {
      switch self {
      case .plain: "--stdin"
      case .nul: "--stdin -0"
      case .json, .jsonl: "--stdin --json"
      }
    }
  }

  private func fill(_ shell: Shell, _ keys: Set<[UInt8]>) throws {
    for key in keys { try shell.store.namespace("a").set("x", for: key) }
  }

  @Test(arguments: [Form.plain, .nul, .json, .jsonl])
  private func `a listing names exactly the entries that it lists`(form: Form) throws {
    var random = SeededRNG()
    for round in 0..<30 {
      var all: Set<[UInt8]> = []
      for _ in 0..<40 {
        var key = random.awkwardBytes(upTo: 20)
        if Int.random(in: 0..<4, using: &random) == 0 {
          // A program may name an entry by an integer, which is a key of eight bytes.
          key = (0..<8).map { UInt8(truncatingIfNeeded: round >> (56 - 8 * $0)) }
        }
        if form == .nul { key.removeAll { $0 == 0 } }
        if !key.isEmpty { all.insert(key) }
      }
      let listed = Set(all.filter { _ in Bool.random(using: &random) })
      let lister = try Shell(form.mode) { $0.endsWithNUL = form == .nul }
      try fill(lister, listed)
      let listing = try lister.bytes("keys @a --limit all")
      let reader = try Shell(.plain)
      try fill(reader, all)
      reader.input = listing
      try reader("evict @a \(form.words) --yes")
      let left = Set(try reader.store.namespace("a").keys().map(\.bytes))
      #expect(left == all.subtracting(listed), "LARDER_SEED=\(random.seed): \(form)")
    }
  }

  @Test(arguments: [Form.json, .jsonl])
  private func `records name the namespace, too`(form: Form) throws {
    let shell = try Shell(form.mode)
    for name in ["a", "b", "c"] { try shell.store.namespace(name).set("x", for: [0, 1]) }
    shell.input = try shell.bytes("keys @a @b")
    try shell("evict @* \(form.words) --yes")
    let left = try ["a", "b", "c"].map { try shell.store.namespace($0).count() }
    #expect(left == [0, 0, 1])
  }

  @Test(arguments: ["keys @a", "ttl @a", "keys @a --reverse", "keys @a --sort size"])
  func `a key with a NUL is refused before anything is listed`(line: String) throws {
    let shell = try Shell(.plain) { $0.endsWithNUL = true }
    for number in 0..<1200 { try shell.store.namespace("a").set("x", for: "key \(number)") }
    try shell.store.namespace("a").set("x", for: [0x7A, 0, 1])
    let error = try shell.error(line)
    #expect(error.code == .usage && error.message.description.contains("NUL"))
    #expect(error.hint?.description.contains("--stdin") == true)
    #expect(shell.printed.isEmpty)
  }
}
