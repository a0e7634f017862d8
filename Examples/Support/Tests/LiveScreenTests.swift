import ExampleTesting

@testable import ExampleProgram

@Suite struct LiveScreenTests {
  /// The rows of a terminal of such a height after the text: `ESC [ ROW H` moves, and `ESC [ K` clears the rest of a row.
  private func screen(_ text: String, rows height: Int) throws -> [String] {
    var rows = Array(repeating: "", count: height)
    for piece in text.components(separatedBy: "\u{1B}[").dropFirst() {
      if piece == "K" || piece == "J" { continue }
      let end = try #require(piece.firstIndex(of: "H"))
      let row = min(Int(piece[..<end]) ?? 1, height) - 1
      rows[row] = String(piece[piece.index(after: end)...])
    }
    return rows
  }

  @Test func `a frame that is too long for the terminal keeps its last line`() throws {
    let lines = (1...300).map { "line \($0)" }
    #expect(
      try screen(LiveScreen.picture(of: lines), rows: 4) == [
        "line 1", "line 2", "line 3", "line 300",
      ])
    #expect(try screen(LiveScreen.picture(of: ["a\nb", "c"]), rows: 3) == ["a b", "c", ""])
  }
}
