import ShellLanguage

/// The status and fields of a stored HTTP response, read from the entry's metadata.
///
/// The format is that of `larder-http/1`, or `larder-http/2` for a body in entries of its own: lines of which the first is the
/// version and the status, then what the cache notes for itself, and behind a blank line the fields as they came.
struct ResponseHead {
  static let versionInParts: StaticASCII = "larder-http/2 "
  private static let versions: [StaticASCII] = ["larder-http/1 ", versionInParts]

  /// `200 OK`
  let status: [UInt8]
  let fields: [(name: [UInt8], value: [UInt8])]
  /// The body, if it is in entries of its own.
  let body: ResponseBody?

  /// Nil for bytes that are no such metadata, or of another version.
  init?(metadata: [UInt8]) {
    let lines = metadata.split(separator: .newline, omittingEmptySubsequences: false)
    guard let first = lines.first,
      let version = Self.versions.map(\.bytes).first(where: { first.starts(with: $0) })
    else { return nil }
    let status = first.dropFirst(version.count)
    let code = status.prefix { $0 != .space }
    guard code.count == 3, code.allSatisfy(\.isDigit) else { return nil }
    self.status = Array(status)
    if version == Self.versionInParts.bytes {
      guard let body = ResponseBody(lines.dropFirst().prefix { !$0.isEmpty }) else { return nil }
      self.body = body
    } else {
      body = nil
    }
    var fields: [(name: [UInt8], value: [UInt8])] = []
    for line in lines.drop(while: { !$0.isEmpty }) where !line.isEmpty {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
        return nil
      }
      let value = line[(colon + 1)...].drop { $0 == .space }
      fields.append((Array(line[..<colon]), Array(value)))
    }
    self.fields = fields
  }

  /// A line for the status and one for each field, safe to print.
  var text: String {
    let rest = fields.map { "\(Quoting.printable($0.name)): \(Quoting.printable($0.value))\n" }
    return "HTTP \(Quoting.printable(status))\n" + rest.joined()
  }
}
