import Larder
import ShellLanguage

enum ImportLine {
  case head(version: Int)
  case namespace(String, Rules, Rules.Overrides?)
  case entry(ImportedEntry)

  /// The error in a line, and the index of the wrong byte. The index is 0 if this byte is unknown.
  struct ParseError: Error {
    let reason: SafeText
    let offset: Int

    init(_ reason: SafeText, at offset: Int = 0) { (self.reason, self.offset) = (reason, offset) }
  }

  init(_ bytes: [UInt8]) throws(ParseError) {
    let fields = try LineFields(bytes)
    let version: Int? = try fields.field("larder_export", "the number of a version") {
      if case .integer(let number) = $0 { Int(exactly: number) } else { nil }
    }
    if let version {
      guard version != ExportFormat.version || fields.count == 1 else {
        throw ParseError("larder_export is in a line with other fields")
      }
      self = .head(version: version)
      return
    }
    // A misspelt name such as `expiers` would be ignored, and the entry would get another expiry. So each name is checked.
    try fields.checkNames()
    guard let namespace = try fields.string("namespace") else {
      throw ParseError("it names no namespace")
    }
    let rules: Rules? = try fields.rules("rules")
    let overrides: Rules.Overrides? = try fields.rules("overrides")
    let name = String(decoding: namespace, as: UTF8.self)
    if let key = try fields.bytes("key") {
      guard rules == nil, overrides == nil else {
        throw ParseError("rules are in a line without key")
      }
      self = .entry(try ImportedEntry(fields, namespace: name, key: key))
      return
    }
    if let name = fields.nameOfEntry { throw ParseError("it has \(name) and no key") }
    guard rules != nil || overrides != nil else {
      throw ParseError("it has neither a key nor rules")
    }
    self = .namespace(name, rules ?? Rules(), overrides)
  }
}

struct ImportedEntry {
  let namespace: String
  let key: [UInt8]
  let value: [UInt8]
  let attributes: EntryAttributes

  fileprivate init(
    _ fields: LineFields, namespace: String, key: [UInt8]
  ) throws(ImportLine.ParseError) {
    self.namespace = namespace
    self.key = key
    guard let value = try fields.bytes("value") else {
      throw ImportLine.ParseError("it has no value")
    }
    self.value = value
    let known: String? = try fields.field(
      "codec", "the name of a codec or a number from 0 to 255"
    ) {
      switch $0 {
      case .string(let name): String(decoding: name, as: UTF8.self)
      case .integer(let number) where (0...255).contains(number): String(number)
      default: nil
      }
    }
    let name = known ?? "bytes"
    guard let codec = CodecID(name: name) else {
      throw ImportLine.ParseError("there is no codec \(Array(name.utf8))")
    }
    // A line without an expiry gets the lifetime and the stale window from the rules of the namespace, like `set`.
    var attributes = EntryAttributes(codec: codec)
    let isEndless = fields.isNever("expires")
    let expires = isEndless ? nil : try fields.time("expires", ", or \"never\"")
    if isEndless || expires != nil {
      attributes.expires = expires.map { .at($0) } ?? .never
      attributes.stale = .zero
    }
    attributes.written = try fields.time("written")
    if let staleUntil = try fields.time("stale_until", ", or null") {
      guard let expires, staleUntil >= expires else {
        throw ImportLine.ParseError("stale_until must be a time at or after expires")
      }
      attributes.stale = expires.duration(to: staleUntil)
    }
    if let idle = try fields.field("idle", "a number of seconds", { $0.double }) {
      guard let milliseconds = Int64(exactly: (idle * 1000).rounded()), milliseconds > 0 else {
        throw ImportLine.ParseError("idle must be a number of seconds above 0")
      }
      // `idle` moves the expiry at each use, so the line must also have an expiry.
      guard expires != nil else {
        throw ImportLine.ParseError("idle is in a line without a time in expires")
      }
      attributes.idle = .milliseconds(milliseconds)
    }
    let isPinned: Bool? = try fields.field("pinned", "true or false") {
      if case .bool(let bool) = $0 { bool } else { nil }
    }
    attributes.isPinned = isPinned ?? false
    // The owners of the entry may be in later lines of the export, so the owners need not exist yet.
    attributes.awaitsOwners = true
    attributes.owners = try fields.owners()
    attributes.tags = try fields.strings("tags")
    attributes.entityTag = try fields.bytes("etag")
    attributes.lastModified = try fields.bytes("last_modified")
    attributes.metadata = try fields.bytes("metadata")
    self.attributes = attributes
  }

  /// The time at which the entry expires. Nil if the entry never expires, or if the rules of the namespace decide.
  var end: Timestamp? {
    guard case .at(let expires) = attributes.expires else { return nil }
    return expires.advanced(by: max(attributes.stale ?? .zero, .zero))
  }
}
