import Larder
import ShellLanguage

/// The lines of an export, which are read one by one from a file or from standard input.
///
/// The length of a line is limited. Otherwise a file that is not an export and has no newline would fill the memory.
struct LineSource {
  /// The first line of an export is short. A later line has a value as base64 or JSON, with up to six bytes for each byte.
  private static let longestFirst = 64_000
  private static let longest = 6 * Rules.largestPossibleValue + (1 << 20)

  let input: Host.Input
  /// The path of the file, or `stdin`.
  let name: SafeText
  private(set) var count = 0
  private(set) var bytes = 0

  /// The next line without its newline. A CSV record can have newlines in quotes, so such a record is several lines.
  mutating func line(ofCSV isCSV: Bool = false) throws -> [UInt8]? {
    guard var line = try wholeLine() else { return nil }
    while isCSV, line.count(where: { $0 == .doubleQuote }) % 2 == 1, let more = try wholeLine() {
      line += [.newline] + more
      guard line.count <= Self.longest else { throw tooLong(Self.longest) }
    }
    if line.last == .carriageReturn { line.removeLast() }
    return line
  }

  private mutating func wholeLine() throws -> [UInt8]? {
    let most = count == 0 ? Self.longestFirst : Self.longest
    guard var line = try input.item(.newline, most) else { return nil }
    guard line.count <= most else { throw tooLong(most) }
    bytes += line.count + 1
    // Some editors write a byte order mark at the start of a file, so the mark is removed.
    if count == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    count += 1
    return line
  }

  private func tooLong(_ most: Int) -> ShellError {
    ShellError(
      .usage, "\(name):\(count + 1):1: the line is longer than \(Wording.size(most))",
      hint: count == 0 ? "it does not begin like an export" : "lines of an export are shorter")
  }
}
