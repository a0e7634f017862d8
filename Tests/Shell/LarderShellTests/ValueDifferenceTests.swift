import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct ValueDifferenceTests {
  @Test func `of texts that differ in most lines the first difference is shown`() throws {
    let shell = try Shell(.plain)
    shell.session.current = "t"
    let texts = shell.store.namespace("texts")
    for (key, word) in [("a", "x"), ("b", "y")] {
      let lines = (0..<20_000).map { "\($0) \($0 < 10 ? "" : word)" }
      try texts.set(lines.joined(separator: "\n"), for: key)
    }
    #expect(try shell("diff @texts a b") == "changed\tline 11\t10 x\t10 y\n")
    #expect(
      shell.notices == [
        "note: more than 4,000 lines lie between the first difference and the last; this is the first"
      ])
  }

  @Test func `the differences of texts turn one into the other, and are the fewest`() throws {
    var random = SeededRNG(seed: 7)
    for _ in 0..<500 {
      func text() -> [UInt8] {
        Array(
          (0..<Int.random(in: 0...9, using: &random)).map { _ in
            "abc".randomElement(using: &random)!
          }.map { "\($0)" }.joined(separator: "\n").utf8)
      }
      let (before, after) = (text(), text())
      let difference = ValueDifference(before, after)
      func lines(_ text: [UInt8]) -> [String] {
        String(decoding: text, as: UTF8.self).split(
          separator: "\n", omittingEmptySubsequences: false
        )
        .map(String.init)
      }
      var result = lines(before)
      func number(_ change: ValueDifference.Change) -> Int { Int(change.place.dropFirst(5))! - 1 }
      for change in difference.changes.reversed() where change.kind == .removed {
        #expect(result.remove(at: number(change)) == change.before)
      }
      for change in difference.changes where change.kind == .added {
        result.insert(try #require(change.after), at: number(change))
      }
      #expect(result == lines(after))
      #expect(difference.changes.count == lines(after).difference(from: lines(before)).count)
    }
  }
}
