import LarderSystem

/// The place of a change in the order of all changes: the ID that the server has given the change's record in the log.
///
/// The version of a value is the position of its record. A loaded value has no record, so its version is the newest position.
public struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The first part of the ID: milliseconds of the server's clock, never fewer than in the ID of the previous record.
  public var milliseconds: UInt64
  /// The second part of the ID: counts within the millisecond.
  public var sequence: UInt64

  /// Makes a position from its parts.
  public init(milliseconds: UInt64, sequence: UInt64) {
    self.milliseconds = milliseconds
    self.sequence = sequence
  }

  /// The position before all changes.
  public static let zero = Position(milliseconds: 0, sequence: 0)

  /// The position of an ID such as `1700000000000-3`; nil for any other bytes.
  public init?(id: [UInt8]) {
    let parts = id.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Self.number(parts[0]), let second = Self.number(parts[1])
    else { return nil }
    self.init(milliseconds: first, sequence: second)
  }

  /// The position in a head such as `1700000000000-3 0123456789ab`; nil if no ID precedes the first space.
  init?(head: [UInt8]) { self.init(id: Array(head.prefix { $0 != UInt8(ascii: " ") })) }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard digits.count <= 20, digits.allSatisfy(\.isDigit) else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self))
  }

  /// The position in 16 bytes of the form of ``bytes``; nil for another number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    self.init(
      milliseconds: UInt64(bigEndianBytes: bytes.prefix(8)),
      sequence: UInt64(bigEndianBytes: bytes.dropFirst(8)))
  }

  /// Both parts, each as 8 bytes, big-endian.
  public var bytes: [UInt8] {
    [UInt8](count: 16) {
      $0.append(bigEndian: milliseconds)
      $0.append(bigEndian: sequence)
    }
  }

  /// The position in one word, for comparisons of positions in one log: 44 bits of milliseconds, enough for 500 years, and 20 bits of
  /// the sequence. If the sequence needs more bits, the log continues in the next millisecond, see ``next``.
  var word: UInt64 { min(milliseconds, 1 << 44 - 1) << 20 | min(sequence, 1 << 20 - 1) }

  /// Whether other positions may have the same word: positions of another program, or of a clock after the year 2500.
  var isBeyondWord: Bool { milliseconds >= 1 << 44 - 1 || sequence >= 1 << 20 - 1 }

  /// The first later position whose word no other position has.
  package var next: Position {
    sequence < 1 << 20 - 2
      ? Position(milliseconds: milliseconds, sequence: sequence + 1)
      : Position(milliseconds: milliseconds + 1, sequence: 0)
  }

  init(word: UInt64) { self.init(milliseconds: word >> 20, sequence: word & (1 << 20 - 1)) }

  /// The ID, such as `1700000000000-3`.
  public var description: String { "\(milliseconds)-\(sequence)" }

  /// Orders positions in the order of the changes.
  public static func < (left: Position, right: Position) -> Bool {
    (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
  }
}

/// Identifies one stored value among all values of its key. Two loaded values may have one version, so a stamp also has a time.
public struct ValueStamp: Hashable, Comparable, Sendable {
  /// The value's version.
  public var version: Position
  /// The time at which the value was stored: microseconds since 1970 by the server's clock.
  public var written: UInt64

  /// Makes a stamp from its parts.
  public init(version: Position, written: UInt64) {
    self.version = version
    self.written = written
  }

  /// Orders stamps in the order in which the values of a key were stored.
  public static func < (left: ValueStamp, right: ValueStamp) -> Bool {
    (left.version, left.written) < (right.version, right.written)
  }

  static let count = 24

  /// The stamp in 24 bytes of the form of ``bytes``; nil for another number of bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count, let version = Position(bytes: bytes.prefix(16)) else {
      return nil
    }
    self.version = version
    written = UInt64(bigEndianBytes: bytes.dropFirst(16))
  }

  /// The version, then the time as 8 bytes, big-endian.
  var bytes: [UInt8] { version.bytes + [UInt8](count: 8) { $0.append(bigEndian: written) } }
}
