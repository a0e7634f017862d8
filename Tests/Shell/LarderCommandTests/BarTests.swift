import Larder
import TestSupport
import Testing

/// The bars in an answer use the whole width of the terminal, and are never wider than the terminal.
@Suite(.serialized, .timeLimit(.minutes(20))) struct BarTests {
  private let home = TemporaryDirectory()

  init() throws {
    try home.withStore { store in
      let departures = store.namespace("departures")
      for number in 1...40 {
        let value = String(repeating: "x", count: number * 25)
        try departures.set(value, for: "Bern:\(number)", expires: .after(.minutes(number * 2)))
        if number % 4 == 0 { try store.namespace("articles").set(value, for: "\(number)") }
      }
    }
  }

  /// The lines that a command prints at a terminal with `columns` columns, without the line of `echo done`.
  private func lines(of command: String, columns: Int) throws -> [String] {
    let session = try TerminalSession(
      larder: [home.store, "-r", "-e", command, "-e", "echo done"], showing: nil, home: home,
      columns: columns, rows: 60)
    #expect(try session.terminal.waitForExit() == 0)
    #expect(session.screen.unknown.isEmpty)
    let lines = session.screen.lines
    #expect(lines.last == "done", "\(lines)")
    return lines.dropLast()
  }

  private func bar(_ line: String) -> Int {
    line.unicodeScalars.count { (0x2588...0x258F).contains($0.value) }
  }

  @Test(arguments: [24, 40, 80, 132, 200])
  func `plots fill the width and no more`(columns: Int) throws {
    for command in ["plot sizes @departures --bins 5", "plot expiry @departures --bins 5"] {
      let lines = try lines(of: command, columns: columns)
      // A line that is too long would wrap, so the answer would have more rows.
      #expect((2...6).contains(lines.count), "\(lines)")
      let longest = lines.map(\.count).max() ?? 0
      #expect((columns - 2...columns).contains(longest), "\(command): \(lines)")
      #expect(lines.allSatisfy { bar($0) > 0 }, "\(lines)")
    }
  }

  @Test(arguments: [40, 60, 80, 132, 200])
  func `what expires has a bar for each stretch above the list`(columns: Int) throws {
    let lines = try lines(of: "expiring @departures --within 1h --limit 3", columns: columns)
    let chart = lines.prefix { $0.hasPrefix("<") }
    #expect(chart.count == 4 && chart.last?.hasPrefix("< 1 h") == true, "\(lines)")
    #expect((columns - 2...columns).contains(chart.map(\.count).max() ?? 0), "\(lines)")
    #expect(lines.count == 4 + 4, "\(lines)")
  }

  @Test(arguments: [60, 80, 132, 200])
  func `the bars of sizes keep their proportions where there is less room`(columns: Int) throws {
    let lines = try lines(of: "sizes", columns: columns)
    #expect(lines.count == 4 && lines.allSatisfy { $0.count <= columns }, "\(lines)")
    let (longer, shorter) = (bar(lines[1]), bar(lines[2]))
    // The first bar shows 20,500 bytes and the second 5,500 bytes, so the first bar must be more than twice as long.
    #expect(longer > 2 * shorter && shorter > 0, "\(lines)")
    #expect(!lines[1].contains("\u{2588}\u{2026}"), "\(lines)")
  }
}
