import Larder
import ShellLanguage

/// An entry in which `search` found the text, with the lines around the matches.
struct Find {
  struct Match {
    private static let around = 40

    let offset: Int
    private let before: [UInt8]
    private let match: [UInt8]
    private let after: [UInt8]
    /// Whether the line has text before the shown part.
    private let isCutBefore: Bool
    private let isCutAfter: Bool

    init(_ range: Range<Int>, in bytes: [UInt8]) {
      offset = range.lowerBound
      let start = bytes[..<range.lowerBound].lastIndex(of: .newline).map { $0 + 1 } ?? 0
      let end = bytes[range.upperBound...].firstIndex(of: .newline) ?? bytes.count
      var first = max(start, range.lowerBound - Self.around)
      // Moves the cuts at both ends to the edges of characters, so that no character is split.
      while first > start, first < range.lowerBound, bytes[first] & 0xC0 == 0x80 { first += 1 }
      var last = min(end, range.upperBound + Self.around)
      while last < end, last > range.upperBound, bytes[last] & 0xC0 == 0x80 { last -= 1 }
      before = Array(bytes[first..<range.lowerBound])
      // A match may be very long, so the match itself is cut, too.
      match = Array(bytes[range].prefix(4 * Self.around))
      after = match.count < range.count ? [] : Array(bytes[range.upperBound..<last])
      isCutBefore = first > start
      isCutAfter = last < end || match.count < range.count
    }

    var context: [UInt8] { before + match + after }

    /// The line with the match in color. The text on both sides is cut so that the line fits into the columns.
    func text(_ presentation: Presentation, columns: Int?) -> String {
      let mark = presentation.ellipsis
      var (before, after) = (Quoting.printable(before), Quoting.printable(after))
      var found = Quoting.printable(match)
      var (isCutBefore, isCutAfter) = (isCutBefore, isCutAfter)
      if let columns {
        found = DisplayWidth.fit(found, to: max(columns - 2 * DisplayWidth.of(mark), 1), mark: mark)
        let room = max(columns - DisplayWidth.of(found) - 2 * DisplayWidth.of(mark), 0)
        // If one side is short, the other side gets the columns that the short side does not need.
        let right = min(DisplayWidth.of(after), max(room / 2, room - DisplayWidth.of(before)))
        let left = min(DisplayWidth.of(before), room - right)
        isCutBefore = isCutBefore || left < DisplayWidth.of(before)
        isCutAfter = isCutAfter || right < DisplayWidth.of(after)
        before = DisplayWidth.suffix(of: before, columns: left)
        after = DisplayWidth.prefix(of: after, columns: right)
      }
      let shown = presentation.hasColor ? "\u{1B}[1;31m\(found)\u{1B}[0m" : found
      return "\(isCutBefore ? mark : "")\(before)\(shown)\(after)\(isCutAfter ? mark : "")"
    }
  }

  let entry: Store.Entry
  let inKey: Match?
  let inValue: [Match]

  /// The columns of data. `offset` is the offset of the first shown match. `context` has a line for each shown match.
  static let columns = [
    Column("namespace"), Column("key", holdsBytes: true), Column("in"), Column("offset"),
    Column("context", holdsBytes: true),
  ]

  var cells: [Cell] {
    let place = inKey == nil ? "value" : inValue.isEmpty ? "key" : "both"
    let matches = shown
    return [
      .text(entry.namespace), .bytes(entry.key.bytes), .text(place), .number(matches[0].offset),
      .bytes(Array(matches.map(\.context).joined(separator: [.newline]))),
    ]
  }

  /// The matches in the value. If the value has no match, the match in the key. The key itself is always shown.
  private var shown: [Match] { inValue.isEmpty ? inKey.map { [$0] } ?? [] : inValue }

  /// Lines such as `departures "Malmo C:07"  { "station": "Malmo C" }`. Further matches are on the lines below.
  func lines(_ presentation: Presentation, namesNamespaces: Bool) -> [UInt8] {
    let name = namesNamespaces ? "\(SafeText(entry.namespace)) " : ""
    let lead = "\(name)\(Quoting.brief(entry.key.bytes))  "
    let width = DisplayWidth.of(lead)
    // A long name gets a line of its own, so that the match has room.
    let isAlone = presentation.width.map { width > $0 / 2 } ?? false
    let indent = String(repeating: " ", count: isAlone ? 4 : min(width, 20))
    let columns = presentation.width.map { $0 - (isAlone ? 4 : width) }
    return shown.enumerated().flatMap { index, match in
      let start = index > 0 ? indent : isAlone ? "\(lead)\n\(indent)" : lead
      return Array("\(start)\(match.text(presentation, columns: columns))\n".utf8)
    }
  }
}
