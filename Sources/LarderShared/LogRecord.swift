import Larder

/// One change in the log of the tier. It names the data that was changed, and has no value.
public struct LogRecord: Hashable, Sendable {
  /// The data that a change concerns.
  public enum Subject: Hashable, Sendable {
    /// Nothing: the first record of a log.
    case nothing
    /// One key.
    case key(SharedKey)
    /// Every key of a namespace.
    case namespace(String)
    /// Every key with a tag.
    case tag(String)
  }

  /// The record's place in the log.
  public var position: Position
  /// A digest of the record and of all records before it. It tells the record from one of another history at the same position:
  /// a primary and the replica that took its place may write in the same millisecond.
  public var digest: UInt64
  /// The digest of the record before it; nil for the first one. A reader that has applied another record has missed some.
  public var previous: UInt64?
  /// The data that the change concerns.
  public var subject: Subject

  /// A record of these parts.
  public init(position: Position, digest: UInt64, previous: UInt64?, subject: Subject) {
    self.position = position
    self.digest = digest
    self.previous = previous
    self.subject = subject
  }

  /// The name under which ``RecentChanges`` remembers the change; nil for a record that changes nothing.
  var name: [UInt8]? {
    switch subject {
    case .nothing: nil
    case .key(let key): RecentChanges.name(of: key)
    case .namespace(let name): RecentChanges.name(ofNamespace: name)
    case .tag(let tag): RecentChanges.name(ofTag: tag)
    }
  }
}

extension LogRecord {
  /// A record as a stream has it: its ID, and fields with their values. Nil for anything else.
  init?(_ reply: Reply) {
    guard let parts = reply.list(of: 2), let id = parts[0].bytes.flatMap({ Position(id: $0) }),
      let fields = parts[1].list, fields.count % 2 == 0
    else { return nil }
    var values: [[UInt8]: [UInt8]] = [:]
    for index in stride(from: 0, to: fields.count, by: 2) {
      guard let name = fields[index].bytes, let value = fields[index + 1].bytes else { return nil }
      values[name] = value
    }
    func text(_ name: String) -> String? {
      values[Array(name.utf8)].flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard let kind = text("kind"), let name = text("name"), let key = values[Array("key".utf8)],
      let before = text("previous"), let digest = text("digest").flatMap(Self.digest)
    else { return nil }
    let subject: Subject
    switch kind {
    case "begin": subject = .nothing
    case "set", "remove": subject = .key(SharedKey(namespace: name, bytes: key))
    case "clear": subject = .namespace(name)
    case "invalidate": subject = .tag(name)
    default: return nil
    }
    let previous = Self.digest(before)
    guard previous != nil || before.isEmpty else { return nil }
    self.init(position: id, digest: digest, previous: previous, subject: subject)
  }

  /// The digest of 12 hexadecimal digits.
  private static func digest(_ digits: String) -> UInt64? {
    digits.utf8.count == 12 ? UInt64(digits, radix: 16) : nil
  }
}
