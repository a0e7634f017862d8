import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct HintTests {
  @Test(arguments: ["a\"b c\"", "caf\u{E9}\"x\"y", "a'b c'd", "\u{4E2D}\u{6587}\", b"])
  func `a word in which a quote opens is written as its hint shows`(word: String) throws {
    let shell = try Shell(.plain)
    let hint = try #require(try shell.error("set @x k \(word)").hint?.description)
    guard hint.hasPrefix("write ") else {
      // The quote has no end, or would end the word.
      return #expect(hint == "quote the whole word")
    }
    try shell("set @x k \(hint.dropFirst(6))")
    #expect(try shell("get @x k") == word + "\n" || shell("get @x k") == "\n\(word)\n")
  }
}
