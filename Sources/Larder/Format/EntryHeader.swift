import LMDB
import LarderSystem

/// The fixed 64 bytes in front of every value: all that a read looks at before it lends the bytes.
///
/// `Docs/FileFormat.md` draws the layout. Times are milliseconds since 1970; ``never`` stands for no end.
struct EntryHeader: Equatable {
  static let size = 64
  static let layout: UInt8 = 1
  static let never = Int64.max

  struct Flags: OptionSet, Hashable {
    let rawValue: UInt8
    /// The whole key stands among the fields.
    static let longKey = Flags(rawValue: 1)
    /// The value lies in the chunks database; the payload is its length and checksum.
    static let chunked = Flags(rawValue: 2)
    /// Never evicted.
    static let pinned = Flags(rawValue: 4)
    /// Reserved for values that are stored compressed.
    static let compressed = Flags(rawValue: 8)
    /// Use gives it another end; how long it may lie unused stands among the fields.
    static let idle = Flags(rawValue: 16)
    /// It carries tags, so that it may have been invalidated.
    static let tagged = Flags(rawValue: 32)
    /// It says that there is nothing under its key: reads miss it.
    static let negative = Flags(rawValue: 64)
    static let known: Flags = [.longKey, .chunked, .pinned, .idle, .tagged, .negative]
  }

  var flags: Flags
  var codec: UInt8
  /// Bytes of the fields that follow.
  var fieldsCount: UInt32
  var checksum: UInt64
  /// When the value was written.
  var written: Int64
  /// From here on it is no longer fresh.
  var expires: Int64
  /// From here on it is gone; at least `expires`.
  var staleUntil: Int64
  /// The deadline under which the index knows it, at most `staleUntil`; ``never`` if it is not indexed.
  var deadline: Int64
  /// Its place in the namespace's queue; an overwrite keeps it.
  var sequence: UInt64
  /// Differs for each value the key ever had in this namespace.
  var version: UInt64

  @inline(__always)
  init(
    flags: Flags, codec: UInt8, written: Int64, expires: Int64, staleUntil: Int64, deadline: Int64,
    sequence: UInt64, version: UInt64
  ) {
    self.flags = flags
    self.codec = codec
    fieldsCount = 0
    checksum = 0
    self.written = written
    self.expires = expires
    self.staleUntil = staleUntil
    self.deadline = deadline
    self.sequence = sequence
    self.version = version
  }

  /// Reads a header; nil if the record cannot be one.
  @inline(__always)
  init?(_ record: Span<UInt8>) {
    guard record.count >= Self.size else { return nil }
    let words = record.extracting(0..<Self.size)
    let first = words.word(at: 0)
    // The fourth byte is not used, and so must be 0.
    guard first & 0xFF00_00FF == UInt64(Self.layout) else { return nil }
    flags = Flags(rawValue: UInt8(truncatingIfNeeded: first &>> 8))
    codec = UInt8(truncatingIfNeeded: first &>> 16)
    fieldsCount = UInt32(truncatingIfNeeded: first &>> 32)
    checksum = words.word(at: 8)
    written = Int64(bitPattern: words.word(at: 16))
    expires = Int64(bitPattern: words.word(at: 24))
    staleUntil = Int64(bitPattern: words.word(at: 32))
    deadline = Int64(bitPattern: words.word(at: 40))
    sequence = words.word(at: 48)
    version = words.word(at: 56)
    guard Int(fieldsCount) <= record.count &- Self.size else { return nil }
  }

  @inline(__always)
  private var firstWord: UInt64 {
    UInt64(Self.layout) | UInt64(flags.rawValue) &<< 8 | UInt64(codec) &<< 16 | UInt64(fieldsCount)
      &<< 32
  }

  /// Where the payload begins in the record.
  @inline(__always)
  var payloadStart: Int { Self.size &+ Int(fieldsCount) }

  /// Where the checksum stands.
  static let checksumOffset = 8

  func append(to record: inout OutputSpan<UInt8>) {
    record.append(word: firstWord)
    record.append(word: checksum)
    record.append(word: UInt64(bitPattern: written))
    record.append(word: UInt64(bitPattern: expires))
    record.append(word: UInt64(bitPattern: staleUntil))
    record.append(word: UInt64(bitPattern: deadline))
    record.append(word: sequence)
    record.append(word: version)
  }

  /// The checksum this header should carry: over itself, the namespace, the key and all that follows the header.
  ///
  /// Bound to the place, so that a value that turns up under another key is damage too.
  ///
  /// The four parts do not wait for each other, which halves the time a processor takes.
  @inline(__always)
  func expectedChecksum(id: NamespaceID, key: Span<UInt8>, body: Span<UInt8>) -> UInt64 {
    expectedChecksum(place: Checksum.place(of: key, in: id), body: body)
  }

  /// The same where the hash of the place is known already.
  @inline(__always)
  func expectedChecksum(place: UInt64, body: Span<UInt8>) -> UInt64 {
    let times = Checksum.mix(
      UInt64(bitPattern: written) ^ 0x5899_65CC_7537_4CC3,
      UInt64(bitPattern: expires) ^ 0x1D8E_4E27_C47D_124F)
    let ends = Checksum.mix(
      UInt64(bitPattern: staleUntil) ^ 0xEB44_ACCA_B455_D165,
      UInt64(bitPattern: deadline) ^ 0x9E37_79B9_7F4A_7C15)
    let numbers = Checksum.mix(sequence ^ 0xC2B2_AE3D_27D4_EB4F, version ^ 0x1656_67B1_9E37_79F9)
    let head = Checksum.mix(firstWord ^ times ^ 0x27D4_EB2F_1656_67C5, ends ^ numbers)
    return Checksum.mix(
      place ^ head ^ 0x85EB_CA77_C2B2_AE63, Checksum.of(body, seed: 0) ^ 0xFF51_AFD7_ED55_8CCD)
  }
}
