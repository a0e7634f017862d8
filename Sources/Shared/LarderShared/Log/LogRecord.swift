import Larder

/// One change in the log of the tier. The record names the changed data, but has no value.
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

  /// The place of the record in the log.
  public var position: Position
  /// A digest of the record and all earlier records. Records of two histories may have one position, because a primary and the
  /// replica that replaces it may write in the same millisecond. The digests of such records are different.
  public var digest: UInt64
  /// The digest of the previous record; nil for the first record. If the reader's last digest differs, records are missing.
  public var previous: UInt64?
  /// The data that the change concerns.
  public var subject: Subject

  /// Makes a record from its parts.
  public init(position: Position, digest: UInt64, previous: UInt64?, subject: Subject) {
    self.position = position
    self.digest = digest
    self.previous = previous
    self.subject = subject
  }
}

extension LogRecord {
  /// Reads a record of a stream: its ID and one field. The result is nil for any other reply.
  ///
  /// The field is `set 0123456789ab cdef01234567 6 pricesKEY`. Its words are the kind, the digest, the digest of the previous
  /// record or `-`, and the number of bytes of the namespace's or tag's name. The name and the bytes of the key follow.
  ///
  /// - Parameter ofAnyKind: if true, a record of a kind that only later versions know is read without its subject.
  init?(_ reply: Reply, ofAnyKind: Bool = false) {
    guard let parts = reply.list(of: 2), let id = parts[0].bytes.flatMap({ Position(id: $0) }),
      let field = parts[1].list(of: 2), field[0].bytes == [UInt8(ascii: "c")],
      let words = field[1].bytes?.split(
        separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false),
      words.count == 5, let digest = Self.digest(words[1]),
      let length = Int(String(decoding: words[3], as: UTF8.self)),
      (0...words[4].count).contains(length),
      let name = String(validating: words[4].prefix(length), as: UTF8.self)
    else { return nil }
    let previous = Self.digest(words[2])
    guard previous != nil || words[2].elementsEqual("-".utf8) else { return nil }
    let subject: Subject
    switch String(decoding: words[0], as: UTF8.self) {
    case "begin": subject = .nothing
    case "set", "remove":
      subject = .key(SharedKey(namespace: name, bytes: Array(words[4].dropFirst(length))))
    case "clear": subject = .namespace(name)
    case "invalidate": subject = .tag(name)
    default:
      guard ofAnyKind else { return nil }
      subject = .nothing
    }
    self.init(position: id, digest: digest, previous: previous, subject: subject)
  }

  /// The digest that 12 hexadecimal digits state; nil for other text.
  private static func digest(_ digits: ArraySlice<UInt8>) -> UInt64? {
    digits.count == 12 ? UInt64(String(decoding: digits, as: UTF8.self), radix: 16) : nil
  }
}
