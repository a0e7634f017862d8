import Foundation
import Testing

/// `Docs/Shell.svg` is a picture of a real session with the store of `larder demo`. With `RECORD` set it is drawn anew, to be
/// looked at before it is believed.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PromptPictureTests {
  private static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Docs/Shell.svg")

  @Test func `the picture of the prompt is what the prompt shows`() throws {
    let home = TemporaryHome()
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    let session = try TerminalSession(
      running: Fixture.programs + "/larder", ["demo", home.path + "/demo"], showing: "larder>",
      home: home, environment: ["TZ": "UTC"], columns: 80, rows: 24)
    // The banner holds a path.
    try session.type("\u{C}")
    session.expect("a clear screen") { $0.lines == ["larder>"] }
    let commands = [
      "use sets", "keys --where '.year >= 2010 and .name ~ \"Castle\"' --show .name,.year",
      "get 1010-1 .colors", "count @web --by status", "kesy",
    ]
    for (index, command) in commands.enumerated() {
      // One after the other, so that each line is painted before it runs.
      let prompt = index == 0 ? "larder> " : "sets> "
      try session.type(command)
      session.expect("the line") { $0.lines.last == prompt + command && isPainted($0) }
      try session.type("\r")
      session.expect("the prompt") { $0.line == "sets>" && $0.lines.count > 1 }
    }
    try session.type("evict --tag retired --older 10m --dry-run")
    session.expect("the last line") { $0.line.hasSuffix("--dry-run") && isPainted($0) }
    let drawn = svg(session.screen)
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
      try drawn.write(to: Self.url, atomically: true, encoding: .utf8)
    } else {
      #expect(try String(contentsOf: Self.url, encoding: .utf8) == drawn)
    }
  }

  /// The command of the cursor's row has a color.
  private func isPainted(_ screen: Screen) -> Bool {
    let row = screen.cells[screen.row]
    let start = row.firstIndex { $0.text == ">" }.map { $0 + 2 } ?? 0
    return !row[start].rendition.isEmpty
  }

  private static let colors = [
    "31": "#e06c75", "32": "#98c379", "33": "#e5c07b", "34": "#61afef", "35": "#c678dd",
    "36": "#56b6c2",
  ]

  private func svg(_ screen: Screen) -> String {
    let (width, height) = (8.4, 18.0)
    let rows = screen.cells.prefix(screen.lines.count)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(80 * width + 24))" height="\(Int(Double(rows.count) * height + 24))" \
      font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
      <rect width="100%" height="100%" rx="8" fill="#21252b"/>

      """
    for (index, row) in rows.enumerated() {
      text += "<text y=\"\(Int(Double(index + 1) * height + 8))\" xml:space=\"preserve\">"
      var start = 0
      while start < row.count {
        let end = row[start...].firstIndex { $0.rendition != row[start].rendition } ?? row.count
        let run = row[start..<end].map(\.text).joined()
        if !run.allSatisfy({ $0 == " " }) {
          text += span(run, row[start].rendition, at: start, width)
        }
        start = end
      }
      text += "</text>\n"
    }
    return text + "</svg>\n"
  }

  private func span(_ run: String, _ rendition: String, at column: Int, _ width: Double) -> String {
    let codes = rendition.split(separator: ";").map(String.init)
    let color =
      codes.compactMap { Self.colors[$0] }.first ?? (codes.contains("2") ? "#7f848e" : "#dcdfe4")
    let weight = codes.contains("1") ? " font-weight=\"bold\"" : ""
    let safe = run.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
    // The place is given in tenths, so that it is the same text on every machine.
    let place = Int((Double(column) * width * 10 + 120).rounded())
    return "<tspan x=\"\(place / 10).\(place % 10)\" fill=\"\(color)\"\(weight)>\(safe)</tspan>"
  }
}
