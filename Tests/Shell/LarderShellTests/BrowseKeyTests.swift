import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct BrowseKeyTests {
  private func keys(_ text: String) -> [KeyPress] {
    var decoder = KeyDecoder()
    return decoder.keys(of: Array(text.utf8)) + decoder.flush()
  }

  @Test func `bytes become keys`() {
    #expect(keys("a\u{E9}\u{1F600}") == [.text("a"), .text("\u{E9}"), .text("\u{1F600}")])
    #expect(keys("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}OD") == [.up, .down, .right, .left])
    #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[4~") == [.pageUp, .pageDown, .home, .end])
    #expect(keys("\u{1B}[H\u{1B}OF\u{1B}[Z\u{1B}[3~") == [.home, .end, .backTab, .delete])
    #expect(keys("\u{1B}[1;5A") == [.up])
    #expect(
      keys("\r\n\t\u{7F}\u{8}\u{3}\u{1A}") == [
        .enter, .enter, .tab, .backspace, .backspace, .control("c"), .control("z"),
      ])
    #expect(keys("\u{1B}") == [.escape])
    #expect(keys("\u{1B}q") == [.escape, .text("q")])
    #expect(keys("\u{1B}[1;99x").isEmpty)
  }

  @Test func `a key may come in pieces`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(of: [0x1B]).isEmpty && decoder.isWaiting)
    #expect(decoder.keys(of: Array("[".utf8)).isEmpty)
    #expect(decoder.keys(of: Array("6".utf8)).isEmpty)
    #expect(decoder.keys(of: Array("~".utf8)) == [.pageDown])
    #expect(!decoder.isWaiting)
    #expect(decoder.keys(of: [0xC3]).isEmpty)
    #expect(decoder.keys(of: [0xA9]) == [.text("\u{E9}")])
  }

  @Test func `no pasted character acts as a key`() {
    #expect(keys("\u{1B}[200~dy\nq\u{1B}[A\u{1B}[201~x") == [.paste("dy q\u{1B}[A"), .text("x")])
    var decoder = KeyDecoder()
    #expect(decoder.keys(of: Array("\u{1B}[200~de".utf8)).isEmpty)
    #expect(decoder.flush().isEmpty)
    #expect(decoder.keys(of: Array("f\u{1B}[201".utf8)).isEmpty)
    #expect(decoder.keys(of: Array("~".utf8)) == [.paste("def")])
    let long = keys("\u{1B}[200~" + String(repeating: "x", count: 100_000) + "\u{1B}[201~")
    guard case .paste(let text)? = long.first else { return #expect(Bool(false), "\(long.count)") }
    #expect(text.count == 4096)
  }

  @Test(arguments: TestSettings.seeds(corpus: 50))
  func `any bytes are taken, and none is left over`(seed: UInt64) {
    var rng = SeededRNG(seed: seed)
    var decoder = KeyDecoder()
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 1...12, using: &rng)).map { _ in
        Bool.random(using: &rng)
          ? UInt8.random(in: 0...255, using: &rng)
          : Array("\u{1B}[0~1;".utf8).randomElement(using: &rng)!
      }
      for key in decoder.keys(of: bytes) {
        guard case .text(let text) = key else { continue }
        #expect(!text.unicodeScalars.contains { $0.isControl })
      }
    }
    _ = decoder.keys(of: Array("\u{1B}[201~".utf8))
    _ = decoder.flush()
    #expect(decoder.keys(of: Array("z".utf8)) == [.text("z")])
  }
}
