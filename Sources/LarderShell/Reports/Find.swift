import Larder
import ShellLanguage

/// A match of `search`, with the line around it.
struct Find {
  /// The bytes of a line that are shown on either side.
  private static let around = 40

  private let entry: Store.Entry
  private let place: String
  private let offset: Int
  private let before: [UInt8]
  private let match: [UInt8]
  private let after: [UInt8]
  /// The line continues on that side.
  private let isCutBefore: Bool
  private let isCutAfter: Bool

  /// - Parameter place: `key` or `value`.
  init(_ entry: Store.Entry, _ place: String, _ range: Range<Int>, in bytes: [UInt8]) {
    self.entry = entry.withoutExtras
    self.place = place
    offset = range.lowerBound
    let start = bytes[..<range.lowerBound].lastIndex(of: .newline).map { $0 + 1 } ?? 0
    let end = bytes[range.upperBound...].firstIndex(of: .newline) ?? bytes.count
    var first = max(start, range.lowerBound - Self.around)
    // A character is not cut in two.
    while first > start, first < range.lowerBound, bytes[first] & 0xC0 == 0x80 { first += 1 }
    var last = min(end, range.upperBound + Self.around)
    while last < end, last > range.upperBound, bytes[last] & 0xC0 == 0x80 { last -= 1 }
    before = Array(bytes[first..<range.lowerBound])
    // The match itself can be very long.
    match = Array(bytes[range].prefix(4 * Self.around))
    after = match.count < range.count ? [] : Array(bytes[range.upperBound..<last])
    isCutBefore = first > start
    isCutAfter = last < end || match.count < range.count
  }

  static let columns = [
    Column("namespace"), Column("key", holdsBytes: true), Column("in"), Column("offset"),
    Column("context", holdsBytes: true),
  ]

  var cells: [Cell] {
    [
      .text(entry.namespace), .bytes(entry.key.bytes), .text(place), .number(offset),
      .bytes(before + match + after),
    ]
  }

  /// `departures "Malmö C:07"  { "station": "Malmö C" }`, with the match in color.
  func line(_ presentation: Presentation, namesNamespaces: Bool) -> [UInt8] {
    let name = namesNamespaces ? "\(SafeText(entry.namespace)) " : ""
    let key = Quoting.brief(entry.key.bytes)
    let found = Quoting.printable(match)
    let shown = presentation.hasColor ? "\u{1B}[1;31m\(found)\u{1B}[0m" : found
    let mark = presentation.hasUnicode ? "\u{2026}" : "..."
    let (lead, tail) = (isCutBefore ? mark : "", isCutAfter ? mark : "")
    let line =
      "\(name)\(key)  \(lead)\(Quoting.printable(before))\(shown)\(Quoting.printable(after))\(tail)\n"
    return Array(line.utf8)
  }
}
