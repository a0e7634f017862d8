import Larder
import ShellLanguage

/// A place where text was found, with the line around it.
struct Find {
  /// How much of a line is shown on either side, in bytes.
  private static let around = 40

  private let entry: Store.Entry
  private let place: String
  private let offset: Int
  private let before: [UInt8]
  private let match: [UInt8]
  private let after: [UInt8]

  /// - Parameter place: `key` or `value`.
  init(_ entry: Store.Entry, _ place: String, _ range: Range<Int>, in bytes: [UInt8]) {
    self.entry = entry.withoutExtras
    self.place = place
    offset = range.lowerBound
    let start = bytes[..<range.lowerBound].lastIndex(of: .newline).map { $0 + 1 } ?? 0
    let end = bytes[range.upperBound...].firstIndex(of: .newline) ?? bytes.count
    var first = max(start, range.lowerBound - Self.around)
    // Half a character is nothing that can be shown.
    while first > start, first < range.lowerBound, bytes[first] & 0xC0 == 0x80 { first += 1 }
    var last = min(end, range.upperBound + Self.around)
    while last < end, last > range.upperBound, bytes[last] & 0xC0 == 0x80 { last -= 1 }
    before = Array(bytes[first..<range.lowerBound])
    // What was found may itself be as long as a page.
    match = Array(bytes[range].prefix(4 * Self.around))
    after = match.count < range.count ? [] : Array(bytes[range.upperBound..<last])
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

  /// `departures "Malmö C:07"  { "station": "Malmö C" }`, with what was found in colour.
  func line(_ presentation: Presentation, namesNamespaces: Bool) -> [UInt8] {
    let name = namesNamespaces ? "\(SafeText(entry.namespace)) " : ""
    let key = Quoting.brief(entry.key.bytes)
    let found = Quoting.printable(match)
    let shown = presentation.hasColor ? "\u{1B}[1;31m\(found)\u{1B}[0m" : found
    let line = "\(name)\(key)  \(Quoting.printable(before))\(shown)\(Quoting.printable(after))\n"
    return Array(line.utf8)
  }
}
