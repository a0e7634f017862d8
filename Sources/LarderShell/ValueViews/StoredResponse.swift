import Larder
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

/// The body of an HTTP response that is too long for the value of the response's entry.
///
/// The metadata of the response has the lines `body ID`, `length N` and `parts SIZE`. The entries `body ID 0`, `body ID 1`
/// and so on of the same namespace have SIZE bytes each, and the last one the rest.
struct ResponseBody {
  private static let longest = 1 << 50

  let length: Int
  private let name: [UInt8]
  private let partSize: Int

  /// Nil if the lines name no such body.
  init?(_ lines: some Sequence<ArraySlice<UInt8>>) {
    var words: [String: String] = [:]
    for line in lines {
      let pair = line.split(separator: .space, maxSplits: 1)
      guard pair.count == 2 else { continue }
      words[String(decoding: pair[0], as: UTF8.self)] = String(decoding: pair[1], as: UTF8.self)
    }
    guard let id = words["body"].flatMap({ UInt64($0, radix: 16) }),
      let length = words["length"].flatMap(Int.init), (0...Self.longest) ~= length,
      let size = words["parts"].flatMap(Int.init), size > 0
    else { return nil }
    self.length = length
    name = Array("body \(String(id, radix: 16))".utf8)
    partSize = size
  }

  /// The body of this entry; nil if the entry is no response, or its value is the body.
  init?(of entry: Store.Entry) {
    guard let metadata = entry.metadata, metadata.starts(with: ResponseHead.versionInParts.bytes),
      let body = ResponseHead(metadata: metadata)?.body
    else { return nil }
    self = body
  }

  /// `in 48 entries "body 9f86d081884c7d65 0" to "body 9f86d081884c7d65 47"`
  var place: String {
    let count = length / partSize + (length % partSize == 0 ? 0 : 1)
    let first = Quoting.quoted(key(0))
    return count < 2
      ? "in \(first)" : "in \(Wording.entries(count)) \(first) to \(Quoting.quoted(key(count - 1)))"
  }

  /// `12 MB in 48 entries ...`
  var summary: String { "\(Wording.size(length)) \(place)" }

  /// Hands out the first `most` bytes a part at a time, each read in a snapshot of its own.
  func forEachPart(
    of entry: Store.Entry, most: Int, in session: Session, _ take: ([UInt8]) throws -> Void
  ) throws {
    let namespace = session.store.namespace(entry.namespace)
    let end = min(most, length)
    for (index, start) in stride(from: 0, to: end, by: partSize).enumerated() {
      try session.host.checkInterruption()
      let size = min(partSize, length - start)
      let part = try namespace.lookUp(key(index)) { _, value in
        value.count == size ? value.extracting(first: end - start).bytes : nil
      }
      // The parts of one body have its name, so that they never belong to another response.
      guard case let part?? = part else { throw missing(index, of: entry) }
      try take(part)
    }
  }

  private func key(_ index: Int) -> [UInt8] { name + Array(" \(index)".utf8) }

  private func missing(_ index: Int, of entry: Store.Entry) -> ShellError {
    ShellError(
      .unreadable,
      "the body of \(entry.key.bytes) is incomplete: no entry \(key(index)) in \(entry.namespace) has that part",
      hint: "if the response was replaced or evicted meanwhile, run the command again")
  }
}
