import HTTPTypes
import Larder

/// The metadata of the entry that a response is stored as: lines of text, of which the first names the version.
///
///     larder-http/1 200 OK
///     requested 1767225600000
///     received 1767225600123
///     body 9f86d081884c7d65
///     freshness 300
///     credential 2c26b46b68ffc68ff99b453c1d304134
///     vary accept-language=de,en
///     vary accept-encoding
///
///     Date: Thu, 01 Jan 2026 00:00:00 GMT
///     ETag: "1"
///
/// A body that is stored in parts has the version `larder-http/2`, and the lines `length` and `parts` with its length and that
/// of a part. A blank line parts what the cache says from the fields, which are as they came, each ended by a newline. A `vary`
/// without `=` is a field that the request did not have.
extension StoredResponse {
  private static let version = "larder-http/1"
  private static let versionWithParts = "larder-http/2"

  /// Whether metadata may be that of a response whose body is in parts.
  static func mayHaveParts(_ metadata: [UInt8]) -> Bool {
    metadata.starts(with: versionWithParts.utf8)
  }

  func encodedMetadata() -> [UInt8] {
    let version = partSize == nil ? Self.version : Self.versionWithParts
    var head = "\(version) \(response.status.code) \(response.status.reasonPhrase)\n"
    head += "requested \(requested.milliseconds)\nreceived \(received.milliseconds)\n"
    if let bodyID { head += "body \(String(bodyID, radix: 16))\n" }
    if let partSize { head += "length \(bodySize)\nparts \(partSize)\n" }
    if let assignedFreshness { head += "freshness \(assignedFreshness)\n" }
    if let credential { head += "credential \(credential)\n" }
    for (name, value) in vary.fields {
      head += "vary " + name + (value.map { "=" + $0 } ?? "") + "\n"
    }
    var bytes = Array((head + "\n").utf8)
    for field in fields {
      bytes += Array(field.name.rawName.utf8)
      bytes += [0x3A, 0x20]
      bytes += field.valueBytes
      bytes.append(0x0A)
    }
    return bytes
  }

  /// Nil for bytes that are no such metadata, or of another version.
  ///
  /// - Parameter bodySize: the length of the entry's value.
  init?(metadata: [UInt8], bodySize: Int) {
    var lines = metadata.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    guard let first = lines.popFirst().map({ String(decoding: $0, as: UTF8.self) }) else {
      return nil
    }
    let parts = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    let isInParts = parts[0] == Self.versionWithParts
    guard parts.count == 3, isInParts || parts[0] == Self.version, let code = Int(parts[1]),
      (100...999).contains(code)
    else { return nil }
    response = HTTPResponse(status: .init(code: code, reasonPhrase: String(parts[2])))
    self.bodySize = bodySize
    var numbers: [Substring: Int64] = [:]
    var varied: [(name: String, value: String?)] = []
    while let line = lines.popFirst(), !line.isEmpty {
      let text = String(decoding: line, as: UTF8.self)
      let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard words.count == 2 else { return nil }
      switch words[0] {
      case "requested", "received", "length", "parts": numbers[words[0]] = Int64(words[1])
      case "body": bodyID = UInt64(words[1], radix: 16)
      case "freshness":
        assignedFreshness = Int(words[1]).map { min(max(0, $0), DeltaSeconds.most) }
      case "credential": credential = String(words[1])
      case "vary":
        let pair = words[1].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        varied.append((String(pair[0]), pair.count == 2 ? String(pair[1]) : nil))
      default: break
      }
    }
    guard let requested = numbers["requested"], let received = numbers["received"] else {
      return nil
    }
    self.requested = Timestamp(milliseconds: requested)
    self.received = Timestamp(milliseconds: received)
    vary = VaryKey(fields: varied)
    if isInParts {
      guard bodyID != nil, let length = numbers["length"], (0...BodyParts.largestBody) ~= length,
        let size = numbers["parts"], (1...Int64(Rules.largestPossibleValue)) ~= size
      else { return nil }
      self.bodySize = Int(length)
      partSize = Int(size)
    }
    // A damaged or foreign record must not reach the limit of `HTTPFields`, which is a precondition.
    guard lines.count <= 4 * HTTPCacheError.largestFieldCount else { return nil }
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: 0x3A), line[colon...].count >= 2,
        let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
      else { return nil }
      response.headerFields.append(HTTPField(name: name, lenientValue: line[(colon + 2)...]))
    }
  }
}
