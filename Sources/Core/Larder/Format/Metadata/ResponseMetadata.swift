/// The metadata of an entry that stores an HTTP response: lines of text. The first line names the version.
///
///     larder-http/1 200 OK
///     requested 1767225600000
///     received 1767225600123
///     body 9f86d081884c7d65
///     freshness 300
///     credential 2c26b46b68ffc68ff99b453c1d304134
///     vary accept-language=~5d1c02f1b7e3a94e6b0c8d27a4f93e10
///     vary accept-encoding
///
///     Date: Thu, 01 Jan 2026 00:00:00 GMT
///     ETag: "1"
///
/// If the body is in parts, the version is `larder-http/2`, and the lines `length` and `parts` have the lengths of the body and
/// of a part. A newline ends each line. A blank line separates the cache's own lines from the unchanged fields. `body` is a
/// number of the body, which a validation does not change. A `vary` line has a digest of the normal form of the request's
/// field. If the line has no `=`, the request did not have the field.
package struct ResponseMetadata {
  package static let version = "larder-http/1 "
  package static let versionWithParts = "larder-http/2 "

  /// Whether the body is stored in separate entries.
  package let isInParts: Bool
  /// The status code, 100 to 999.
  package let code: Int
  /// The status line, such as `200 OK`.
  package let status: ArraySlice<UInt8>
  /// The cache's own lines: the first word and the rest of each line.
  package private(set) var notes: [(name: String, value: String)] = []
  package private(set) var fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

  /// Whether the metadata can belong to a response with a body in parts.
  package static func mayHaveParts(_ metadata: [UInt8]) -> Bool {
    metadata.starts(with: versionWithParts.utf8)
  }

  /// Nil if the bytes are not the metadata of a response, or have another version.
  package init?(_ metadata: [UInt8]) {
    var lines = metadata.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    isInParts = Self.mayHaveParts(metadata)
    guard isInParts || metadata.starts(with: Self.version.utf8), let first = lines.popFirst()
    else { return nil }
    status = first.dropFirst(Self.version.utf8.count)
    guard let code = Int(String(decoding: status.prefix(3), as: UTF8.self)),
      (100...999).contains(code), status.dropFirst(3).first == 0x20
    else { return nil }
    self.code = code
    while let line = lines.popFirst(), !line.isEmpty {
      guard let space = line.firstIndex(of: 0x20) else { return nil }
      let name = String(decoding: line[..<space], as: UTF8.self)
      let value = String(decoding: line[(space + 1)...], as: UTF8.self)
      notes.append((name, value))
    }
    fields.reserveCapacity(lines.count)
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
        line[(colon + 1)...].first == 0x20
      else { return nil }
      fields.append((line[..<colon], line[(colon + 2)...]))
    }
  }

  package func note(_ name: String) -> String? { notes.last { $0.name == name }?.value }
}
