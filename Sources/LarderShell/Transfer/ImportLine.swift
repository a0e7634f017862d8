import Larder
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A line of an export.
enum ImportLine {
  case head(version: Int)
  case namespace(String, Rules?, Rules.Overrides?)
  case entry(ImportedEntry)

  private static let decoder = JSONDecoder()

  init(_ bytes: [UInt8]) throws(ParseError) {
    // Decoding takes one of them, and the other would be lost.
    if let (name, range) = JSONFields.repeated(in: bytes) {
      throw ParseError("\(name) is there twice", at: range.lowerBound)
    }
    let fields: Fields
    do {
      fields = try Self.decoder.decode(Fields.self, from: Data(bytes))
    } catch {
      throw ParseError(bytes, error)
    }
    if let version = fields.larderExport {
      self = .head(version: version)
      return
    }
    guard let namespace = fields.namespace else { throw ParseError("it names no namespace") }
    if let key = try Self.bytes(fields.key, fields.keyBase64, "key") {
      self = .entry(try ImportedEntry(fields, namespace: namespace, key: key))
    } else {
      self = .namespace(namespace, fields.rules, fields.overrides)
    }
  }

  static let noHead: SafeText = "it does not begin like an export"

  /// Why an export cannot begin with this line; nil if it can.
  var headFault: SafeText? {
    guard case .head(let version) = self else { return Self.noHead }
    return version == ExportFormat.version ? nil : "it is an export of version \(version)"
  }

  /// The error in a line, and its byte if that is known.
  struct ParseError: Error {
    let reason: SafeText
    var offset = 0

    init(_ reason: SafeText, at offset: Int = 0) {
      self.reason = reason
      self.offset = offset
    }

    fileprivate init(_ bytes: [UInt8], _ error: any Error) {
      do throws(JSONText.ParseError) {
        _ = try JSONText(bytes)
      } catch {
        reason = "it is \(error.predicate)"
        offset = error.offset
        return
      }
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context):
        reason = Self.reason(context.codingPath.map(\.stringValue))
      default: reason = "a field is not what it should be"
      }
    }

    /// - Parameter path: The names of the field and of those around it.
    private static func reason(_ path: [String]) -> SafeText {
      if path == ["value"] {
        return "value must be a string; JSON goes in as text with \"codec\":\"json\""
      }
      if path.last == "eviction" {
        let policies = Eviction.allCases.map(\.rawValue).joined(separator: ", ")
        return "eviction names no policy of this version; the policies are \(policies)"
      }
      return path.first.map { "\($0) is not what it should be" }
        ?? "a field is not what it should be"
    }
  }

  struct Fields: Decodable {
    var larderExport: Int?
    var namespace: String?
    var rules: Rules?
    var overrides: Rules.Overrides?
    var key: String?
    var keyBase64: String?
    var value: String?
    var valueBase64: String?
    var codec: String?
    var written: ExportedTime?
    var expires: ExportedTime?
    var staleUntil: ExportedTime?
    /// Seconds, as in every answer.
    var idle: Double?
    var pinned: Bool?
    var owners: [OwnerFields]?
    var tags: [String]?
    var etag: String?
    var etagBase64: String?
    var lastModified: String?
    var lastModifiedBase64: String?
    var metadata: String?
    var metadataBase64: String?

    private enum CodingKeys: String, CodingKey {
      case larderExport = "larder_export"
      case namespace
      case rules
      case overrides
      case key
      case keyBase64 = "key_base64"
      case value
      case valueBase64 = "value_base64"
      case codec
      case written
      case expires
      case staleUntil = "stale_until"
      case idle
      case pinned
      case owners
      case tags
      case etag
      case etagBase64 = "etag_base64"
      case lastModified = "last_modified"
      case lastModifiedBase64 = "last_modified_base64"
      case metadata
      case metadataBase64 = "metadata_base64"
    }
  }

  struct OwnerFields: Decodable {
    var namespace: String
    var key: String?
    var keyBase64: String?

    private enum CodingKeys: String, CodingKey {
      case namespace
      case key
      case keyBase64 = "key_base64"
    }
  }

  struct ExportedTime: Decodable {
    let time: Timestamp

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text: String
      do {
        text = try container.decode(String.self)
      } catch DecodingError.typeMismatch {
        time = Timestamp(milliseconds: try container.decode(Int64.self))
        return
      }
      guard let time = UnixTime(rfc3339: text) else {
        throw DecodingError.typeMismatch(
          Timestamp.self,
          .init(codingPath: decoder.codingPath, debugDescription: "it is no moment"))
      }
      self.time = Timestamp(time)
    }
  }

  fileprivate static func bytes(
    _ text: String?, _ base64: String?, _ name: SafeText
  ) throws(ParseError) -> [UInt8]? {
    guard let base64 else { return text.map { Array($0.utf8) } }
    guard text == nil, let data = Data(base64Encoded: base64) else {
      throw ParseError(text == nil ? "\(name)_base64 is not base64" : "\(name) is there twice")
    }
    return Array(data)
  }
}

/// An entry as an export has it.
struct ImportedEntry {
  let namespace: String
  let key: [UInt8]
  let value: [UInt8]
  let attributes: EntryAttributes

  fileprivate init(
    _ fields: ImportLine.Fields, namespace: String, key: [UInt8]
  ) throws(ImportLine.ParseError) {
    self.namespace = namespace
    self.key = key
    guard let value = try ImportLine.bytes(fields.value, fields.valueBase64, "value") else {
      throw ImportLine.ParseError("it has no value")
    }
    self.value = value
    guard let codec = CodecID(name: fields.codec ?? "bytes") else {
      throw ImportLine.ParseError("there is no codec \(Array((fields.codec ?? "").utf8))")
    }
    let expires = fields.expires?.time
    var attributes = EntryAttributes(codec: codec, expires: expires.map { .at($0) } ?? .never)
    attributes.written = fields.written?.time
    attributes.stale = .zero
    if let expires, let staleUntil = fields.staleUntil?.time {
      attributes.stale = expires.duration(to: staleUntil)
    }
    if let idle = fields.idle {
      guard let milliseconds = Int64(exactly: (idle * 1000).rounded()), milliseconds > 0 else {
        throw ImportLine.ParseError("idle is not what it should be")
      }
      attributes.idle = .milliseconds(milliseconds)
    }
    attributes.isPinned = fields.pinned ?? false
    // Owners may stand in a line that is yet to come.
    attributes.awaitsOwners = true
    for owner in fields.owners ?? [] {
      guard let key = try ImportLine.bytes(owner.key, owner.keyBase64, "key") else {
        throw ImportLine.ParseError("an owner has no key")
      }
      attributes.owners.append(Owner(Key(key), in: owner.namespace))
    }
    attributes.tags = fields.tags ?? []
    attributes.entityTag = try ImportLine.bytes(fields.etag, fields.etagBase64, "etag")
    attributes.lastModified = try ImportLine.bytes(
      fields.lastModified, fields.lastModifiedBase64, "last_modified")
    attributes.metadata = try ImportLine.bytes(fields.metadata, fields.metadataBase64, "metadata")
    self.attributes = attributes
  }

  /// When nothing of it is of use any more.
  var end: Timestamp? {
    guard case .at(let expires) = attributes.expires else { return nil }
    return expires.advanced(by: max(attributes.stale ?? .zero, .zero))
  }
}
