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
  case namespace(String, Rules, Rules.Overrides?)
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
      guard version != ExportFormat.version || JSONFields.names(of: bytes).count == 1 else {
        throw ParseError("larder_export is in a line with other fields")
      }
      self = .head(version: version)
      return
    }
    // A mistyped field would be lost, such as the end of an entry.
    if let field = JSONFields.unknown(in: bytes, of: Fields.shape) {
      throw ParseError(unknown: field)
    }
    guard let namespace = fields.namespace else { throw ParseError("it names no namespace") }
    if let key = try Self.bytes(fields.key, fields.keyBase64, "key") {
      guard fields.rules == nil, fields.overrides == nil else {
        throw ParseError("rules are in a line without key")
      }
      self = .entry(try ImportedEntry(fields, namespace: namespace, key: key))
      return
    }
    if let name = fields.entryField { throw ParseError("it has \(name) and no key") }
    guard fields.rules != nil || fields.overrides != nil else {
      throw ParseError("it has neither a key nor rules")
    }
    self = .namespace(namespace, fields.rules ?? Rules(), fields.overrides)
  }

  static let noHead: SafeText = "it does not begin like an export"

  /// Why an export cannot begin with this line; nil if it can.
  var headFault: SafeText? {
    guard case .head(let version) = self else { return Self.noHead }
    return version == ExportFormat.version ? nil : "it is an export of version \(version)"
  }

  /// The first line of an export.
  static func head(_ bytes: [UInt8]) throws(ParseError) {
    let names = JSONFields.names(of: bytes)
    guard names.isEmpty || names.contains("larder_export") else { throw ParseError(noHead) }
    let line = try ImportLine(bytes)
    if let reason = line.headFault { throw ParseError(reason) }
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
    let name = fields.codec?.name ?? "bytes"
    guard let codec = CodecID(name: name) else {
      throw ImportLine.ParseError("there is no codec \(Array(name.utf8))")
    }
    // A line without an expiry has the lifetime and the stale window of the namespace's rules, as a `set` has.
    var attributes = EntryAttributes(codec: codec)
    var expires: Timestamp?
    switch fields.expires {
    case .at(let time):
      expires = time
      attributes.expires = .at(time)
      attributes.stale = .zero
    case .never:
      attributes.expires = .never
      attributes.stale = .zero
    case nil: break
    }
    attributes.written = fields.written?.time
    if let staleUntil = fields.staleUntil?.time {
      guard let expires, staleUntil >= expires else {
        throw ImportLine.ParseError("stale_until must be a time at or after expires")
      }
      attributes.stale = expires.duration(to: staleUntil)
    }
    if let idle = fields.idle {
      guard let milliseconds = Int64(exactly: (idle * 1000).rounded()), milliseconds > 0 else {
        throw ImportLine.ParseError("idle must be a number of seconds above 0")
      }
      // The end moves with each use, so there is one.
      guard expires != nil else {
        throw ImportLine.ParseError("idle is in a line without a time in expires")
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
