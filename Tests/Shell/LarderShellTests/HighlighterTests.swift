import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct HighlighterTests {
  private func runs(_ line: String, behind open: String = "") -> [String] {
    let bytes = Array(line.utf8)
    return Highlighter(.standard).runs(in: bytes, behind: Array(open.utf8)).map {
      "\($0.color) \(String(decoding: bytes[$0.range], as: UTF8.self))"
    }
  }

  @Test func `each part of a command has its role`() {
    #expect(
      runs("keys @web 'a b' x* --expiring 15m --limit 5") == [
        "command keys", "namespace @web", "quoted 'a b'", "pattern x*", "option --expiring",
        "number 15m", "option --limit", "number 5",
      ])
    #expect(runs("set @a k {\"a\": 1}").last == "quoted {\"a\": 1}")
    #expect(runs("evict --yess -y") == ["command evict", "wrong --yess", "option -y"])
    #expect(
      runs("keys @a; nope; count") == [
        "command keys", "namespace @a", "wrong nope", "command count",
      ])
    #expect(runs("get -- @a 12") == ["command get", "option --", "quoted @a", "quoted 12"])
    #expect(runs("get hex:00ff") == ["command get"])
  }

  @Test func `a word that is being typed is wrong only when no name begins so`() {
    #expect(runs("ke") == [])
    #expect(runs("kez") == ["wrong kez"])
    #expect(runs("ke ") == ["wrong ke"])
    #expect(runs("keys --exp") == ["command keys"])
    #expect(runs("keys --exq") == ["command keys", "wrong --exq"])
  }

  @Test func `an error is marked at its place`() {
    #expect(runs("set @x k a\"b\"") == ["command set", "namespace @x", "error \""])
    #expect(runs("keys a && b").contains("error &&"))
  }

  @Test func `the second line of an open quote is quoted text`() {
    #expect(
      runs("b' --limit 5", behind: "get 'a\n") == ["quoted b'", "option --limit", "number 5"])
  }

  @Test func `any bytes have runs within the line, in order`() {
    var random = SeededRNG()
    for _ in 0..<2_000 {
      let line = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let runs = Highlighter(.standard).runs(in: line)
      #expect(
        runs.allSatisfy { $0.range.lowerBound >= 0 && $0.range.upperBound <= line.count },
        "LARDER_SEED=\(random.seed)")
      #expect(
        zip(runs, runs.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound },
        "LARDER_SEED=\(random.seed)")
    }
  }

  @Test func `JSON has colors that change no character`() throws {
    let json = try JSONText(Array("{\"a\":[1,\"b\\u001b\",true,null]}".utf8))
    let plain = json.laidOut(width: 80)
    let painted = json.laidOut(width: 80, hasColor: true)
    #expect(painted.contains("\u{1B}[34m\"a\"\u{1B}[0m: [ \u{1B}[35m1\u{1B}[0m, \u{1B}[32m"))
    #expect(painted.contains("\u{1B}[33mtrue\u{1B}[0m, \u{1B}[33mnull\u{1B}[0m"))
    #expect(painted.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
  }
}
