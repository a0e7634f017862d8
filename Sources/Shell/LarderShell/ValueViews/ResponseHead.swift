import Larder
import ShellLanguage

extension Store.Entry {
  /// The metadata of a stored HTTP response. Nil for other entries, and if the metadata does not tell where the body is.
  var response: ResponseMetadata? {
    guard let response = metadata.flatMap(ResponseMetadata.init),
      !response.isInParts || ResponseBody(response) != nil
    else { return nil }
    return response
  }
}

extension ResponseMetadata {
  /// The status and the header fields, each on its own line, safe to print.
  var text: String {
    let lines = fields.map {
      "\(Quoting.printable(Array($0.name))): \(Quoting.printable(Array($0.value)))\n"
    }
    return "HTTP \(Quoting.printable(Array(status)))\n" + lines.joined()
  }
}

/// The body of an HTTP response that is too large for the entry of the response.
///
/// The metadata of the response has the lines `body ID`, `length N` and `parts SIZE`. The body is in the entries `body ID 0`,
/// `body ID 1` and so on, in the same namespace. Each entry has SIZE bytes, and the last entry has the rest.
struct ResponseBody {
  private static let longest = 1 << 50

  let length: Int
  private let name: [UInt8]
  private let partSize: Int

  /// Nil if the metadata does not name a body in separate entries.
  fileprivate init?(_ metadata: ResponseMetadata) {
    guard metadata.isInParts, let id = metadata.note("body").flatMap({ UInt64($0, radix: 16) }),
      let length = metadata.note("length").flatMap({ Int($0) }), (0...Self.longest) ~= length,
      let size = metadata.note("parts").flatMap({ Int($0) }), size > 0
    else { return nil }
    self.length = length
    name = Array("body \(String(id, radix: 16))".utf8)
    partSize = size
  }

  /// The body of an entry. Nil if the entry is not a response, or if its value is already the body.
  init?(of entry: Store.Entry) {
    guard let metadata = entry.metadata, ResponseMetadata.mayHaveParts(metadata),
      let response = ResponseMetadata(metadata)
    else { return nil }
    self.init(response)
  }

  /// Words such as `in 48 entries "body 9f86d081884c7d65 0" to "body 9f86d081884c7d65 47"`.
  var place: String {
    let count = length / partSize + (length % partSize == 0 ? 0 : 1)
    let first = Quoting.quoted(key(0))
    return count < 2
      ? "in \(first)" : "in \(Wording.entries(count)) \(first) to \(Quoting.quoted(key(count - 1)))"
  }

  /// Words such as `12 MB in 48 entries ...`.
  var summary: String { "\(Wording.size(length)) \(place)" }

  /// Gives the first `most` bytes to `take`, one part at a time. Each part is read in its own snapshot.
  func forEachPart(
    of entry: Store.Entry, most: Int, in session: Session, _ take: ([UInt8]) throws -> Void
  ) throws {
    let namespace = session.store.namespace(entry.namespace)
    let end = min(most, length)
    for (index, start) in stride(from: 0, to: end, by: partSize).enumerated() {
      try session.host.checkInterruption()
      let size = min(partSize, length - start)
      let part = try namespace.withEntry(for: key(index)) { _, value in
        value.count == size ? value.extracting(first: end - start).bytes : nil
      }
      // No other body has this id in the names of its parts, so a part always belongs to this response.
      guard case let part?? = part else {
        throw ShellError(
          .unreadable,
          "the body of \(entry.key.bytes) is incomplete: no entry \(key(index)) in \(entry.namespace) has that part",
          hint: "if the response was replaced or evicted meanwhile, run the command again")
      }
      try take(part)
    }
  }

  private func key(_ index: Int) -> [UInt8] { name + Array(" \(index)".utf8) }
}
