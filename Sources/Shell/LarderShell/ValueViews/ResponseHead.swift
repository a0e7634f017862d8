import Larder
import ShellLanguage

extension Store.Entry {
  /// The metadata of a stored HTTP response; nil for another entry, and if the body is in parts that the metadata does not name.
  var response: ResponseMetadata? {
    guard let response = metadata.flatMap(ResponseMetadata.init),
      !response.isInParts || ResponseBody(response) != nil
    else { return nil }
    return response
  }
}

extension ResponseMetadata {
  /// A line for the status and a line for each field, safe to print.
  var text: String {
    let lines = fields.map {
      "\(Quoting.printable(Array($0.name))): \(Quoting.printable(Array($0.value)))\n"
    }
    return "HTTP \(Quoting.printable(Array(status)))\n" + lines.joined()
  }
}

/// The body of an HTTP response that does not fit into the entry of the response.
///
/// The metadata of the response has the lines `body ID`, `length N` and `parts SIZE`. The entries `body ID 0`, `body ID 1`
/// and so on of the same namespace have SIZE bytes each. The last entry has the rest.
struct ResponseBody {
  private static let longest = 1 << 50

  let length: Int
  private let name: [UInt8]
  private let partSize: Int

  /// Nil if the metadata names no body in entries of its own.
  fileprivate init?(_ metadata: ResponseMetadata) {
    guard metadata.isInParts, let id = metadata.note("body").flatMap({ UInt64($0, radix: 16) }),
      let length = metadata.note("length").flatMap({ Int($0) }), (0...Self.longest) ~= length,
      let size = metadata.note("parts").flatMap({ Int($0) }), size > 0
    else { return nil }
    self.length = length
    name = Array("body \(String(id, radix: 16))".utf8)
    partSize = size
  }

  /// The body of an entry; nil if the entry is not a response, or if its value is the body.
  init?(of entry: Store.Entry) {
    guard let metadata = entry.metadata, ResponseMetadata.mayHaveParts(metadata),
      let response = ResponseMetadata(metadata)
    else { return nil }
    self.init(response)
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

  /// Hands out the first `most` bytes, one part at a time. Each part is read in a snapshot of its own.
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
      // The id in the name belongs to this body alone, so a part never belongs to another response.
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
