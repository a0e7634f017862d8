import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct OutputTests {
  private let columns = [
    Column("namespace", in: .data), Column("key", holdsBytes: true),
    Column("size", in: [.table, .data]), Column("expires", title: "expiry", in: [.table, .data]),
    Column("expires_in", in: .data), Column("state", in: .data),
  ]

  private func row(_ key: [UInt8], _ size: Int, _ minutes: Int64?) -> [Cell] {
    let span = minutes.map { $0 * 60_000 + 250 }
    let expires = span.map { UnixTime(milliseconds: stockholm.now.milliseconds + $0) }
    return [
      .text("departures"), .bytes(key), .size(size), .expiry(expires),
      span.map { .span($0) } ?? .null, .text("fresh"),
    ]
  }

  private var rows: Reply.Body {
    .rows(
      columns,
      [row(bytes("Malm\u{F6} C:07"), 812, 14), row(bytes("a\tb"), 31_000, nil), row([0xFF], 5, -3)])
  }

  private func text(
    _ mode: OutputMode, _ reply: Reply, width: Int? = nil, color: Bool = false
  ) -> String {
    let presentation = Presentation(
      mode, isTerminal: width != nil, width: width, hasColor: color, hasUnicode: true,
      clock: stockholm)
    return String(decoding: presentation.bytes(of: reply), as: UTF8.self)
  }

  @Test func `a terminal cuts what a pipe does not`() {
    let long = Reply(
      .rows(columns, [row(bytes(String(repeating: "\u{65E5}", count: 50)), 812, 14)]))
    let cut = text(.table, long, width: 50, color: true)
    for line in cut.split(separator: "\n") {
      let visible = line.replacing("\u{1B}[2m", with: "").replacing("\u{1B}[0m", with: "")
      #expect(DisplayWidth.of(visible) <= 50)
    }
    let narrow = text(.table, long, width: 40).split(separator: "\n")
    #expect(narrow.count == 2 && narrow[0].filter { $0 == "\u{65E5}" }.count == 50)
    #expect(narrow[1] == "  size 812 B  expiry in 14 min")
    #expect(cut.hasPrefix("\u{1B}[2mkey"))
    #expect(cut.contains("\u{65E5}\u{2026}\u{65E5}") && cut.contains("  812 B  in 14 min"))
    #expect(!text(.table, long).contains("\u{2026}"))
    #expect(!text(.table, long, width: 40).contains("\u{1B}"))
    #expect(
      text(.table, long, width: 5).split(separator: "\n").dropFirst().allSatisfy {
        DisplayWidth.of($0) <= 5
      })
  }

  @Test func `batches are written as one list`() {
    for mode in OutputMode.allCases where mode != .auto && mode != .table {
      let presentation = Presentation(mode, clock: stockholm)
      guard case .rows(let columns, let cells) = rows else { return }
      var writer = RowWriter(presentation, columns: columns)
      var written = writer.begin()
      for cell in cells { written += writer.write([cell]) + writer.write([]) }
      written += writer.end()
      #expect(written == presentation.bytes(of: Reply(rows)), "\(mode)")
    }
    var table = RowWriter(Presentation(.table, clock: stockholm), columns: columns)
    let first = table.write([row(bytes("a long key"), 1, nil)])
    let second = table.write([row(bytes("b"), 1, nil)])
    #expect(String(decoding: first, as: UTF8.self).hasSuffix("\"a long key\"   1 B  never\n"))
    #expect(String(decoding: second, as: UTF8.self) == "\"b\"            1 B  never\n")
  }

  @Test func `a terminal without Unicode gets dashes and marks in ASCII`() {
    let presentation = Presentation(.table, hasUnicode: false, clock: stockholm)
    let reply = Reply(
      .chart([(label: "1 \u{2013} 2", count: 1)]), notes: ["\u{2013} \u{2014} \u{2026} \u{2192}"])
    let shown = String(decoding: presentation.bytes(of: reply), as: UTF8.self)
    #expect(shown.hasPrefix("1 - 2  1 #") && shown.hasSuffix("\n- - ... ->\n"))
  }

  @Test func `any span has a text, any share a percentage, and no number has no bar`() {
    #expect(Cell.span(.min).shown(Presentation(.table, clock: stockholm)).hasPrefix("-106,751,"))
    #expect(Wording.percent(0.284) == "28 %" && Wording.percent(2.5) == "250 %")
    #expect(Wording.percent(0.9999) == "99 %" && Wording.percent(1) == "100 %")
    for share in [1.8e19, .infinity, .nan] { #expect(Wording.percent(share) == "\(Int.max) %") }
    #expect(Bar.text(.nan, width: 4, hasUnicode: true) == "")
  }

  @Test(arguments: [
    ("abc", 3), ("\u{65E5}\u{672C}", 4), ("o\u{308}", 1), ("\u{1F682}", 2), ("\u{D55C}", 2),
    ("\u{F6}", 1),
    ("\u{FF21}", 2), ("\u{2764}\u{FE0F}", 1), ("\u{2026}", 1), ("\u{1F1F8}\u{1F1EA}", 2),
  ]) func `width is that of a terminal`(text: String, width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }
}
