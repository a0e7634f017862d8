import LarderSystem

/// The facts before a record's value. Times are in milliseconds since 1970. `Docs/Internals/FileFormat.md` lists the bytes.
struct EntryHeader: Equatable {
  static let never = Int64.max

  /// Properties of an entry. The raw value is the low byte of the header's form.
  struct Flags: OptionSet, Hashable {
    let rawValue: UInt8
    /// The first field is the whole key, because the entry key has only a prefix and a hash of the key.
    static let longKey = Flags(rawValue: 1)
    /// The value is in the chunks database. The payload is the length and the checksum of the value.
    static let chunked = Flags(rawValue: 2)
    /// The entry is never evicted and has no place in the queue.
    static let pinned = Flags(rawValue: 4)
    /// The entry has a field with the time to idle, so an access postpones the expiry of the entry.
    static let idle = Flags(rawValue: 16)
    /// Transforms changed the value. Records do not store this flag: a read sets the flag if the fields name transforms.
    static let transformed = Flags(rawValue: 8)
    /// The entry has tags, so reads must check whether a tag was invalidated.
    static let tagged = Flags(rawValue: 32)
    /// The entry is negative: it records that its key has no value, so reads find no value.
    static let negative = Flags(rawValue: 64)
    /// The flags that this version writes. A record with any other flag is damaged.
    static let known: Flags = [.longKey, .chunked, .pinned, .idle, .tagged, .negative]
    /// The flags that a header from a record can have.
    static let readable: Flags = [.known, .transformed]
  }

  var flags: Flags
  var codec: UInt8
  var fieldsCount: UInt32 = 0
  /// The checksum in the record; see ``isIntact(_:keyHash:)``.
  var checksum: UInt64 = 0
  var written: Int64
  /// The entry is fresh before this time.
  var expires: Int64
  /// Before this time a load may return the entry, even if the entry is not fresh. The time is never before `expires`.
  var staleUntil: Int64
  /// The entry's time in the expiry index, `staleUntil` or earlier but at least 0; ``never`` if the entry is not in the index.
  var deadline: Int64
  /// The position in the queue of the namespace; 0 for a pinned entry. Only under `fifo` an overwrite changes the position.
  var sequence: UInt64
  /// Each value of the key gets another number. After a power failure, only numbers of lost values may be used again.
  var version: UInt64
  /// The number of bytes of the header in its record; 0 for a header that was not read from a record.
  private(set) var size = 0

  /// Whether both headers have the same facts. Ignores checksum and size, which depend on the record of a header.
  func isContent(of other: EntryHeader) -> Bool {
    var own = self
    (own.checksum, own.size) = (other.checksum, other.size)
    return own == other
  }

  @inline(__always)
  var payloadStart: Int { size &+ Int(fieldsCount) }

  @inline(__always)
  var fieldsRange: Range<Int> { size..<payloadStart }

  /// Whether the checksum over namespace, key, header and the rest of the record matches. So a wrong key counts as damage.
  @inline(__always)
  static func isIntact(_ record: Span<UInt8>, keyHash: UInt64) -> Bool {
    record.count > checksumSize && record.word(at: 0) == checksum(of: record, keyHash: keyHash)
  }

  /// The checksum of a record, which must have more than 8 bytes.
  @inline(__always)
  static func checksum(of record: Span<UInt8>, keyHash: UInt64) -> UInt64 {
    Checksum.of(record.extracting(checksumSize..<record.count), seed: keyHash)
  }

  static let checksumSize = 8

  /// The deadline of an entry. `previous` is the entry in the index now, or nil. If `staleUntil` is later than the deadline of
  /// `previous`, the index does not change, so a refresh writes only the entry. When the deadline passes, the purge sees that
  /// the entry has not expired, and corrects the index. If `staleUntil` is earlier, the index changes immediately.
  func indexedDeadline(replacing previous: EntryHeader?) -> Int64 {
    if let previous, previous.sequence == sequence, previous.deadline != Self.never,
      staleUntil >= previous.deadline
    {
      return previous.deadline
    }
    return staleUntil == Self.never ? Self.never : min(max(staleUntil, 0), ExpiryRecord.latest)
  }

  /// The form: 16 bits that tell which numbers a header has, and their lengths. The low byte also has the flags.
  struct Form: Equatable {
    var bits: UInt16

    /// Bits of the low byte that are not flags.
    static let wide: UInt16 = 8
    static let hasFields: UInt16 = 128

    /// Bits of the high byte, and the positions of the three lengths.
    static let longNumbers: UInt16 = 1 << 8
    static let ownSequence: UInt16 = 1 << 9
    static let expiresShift: UInt16 = 10
    static let staleShift: UInt16 = 12
    static let deadlineShift: UInt16 = 14

    /// The form of most entries: 4-byte version, 4-byte lifetime, no stale window.
    static let plain: UInt16 = Length.short << expiresShift
    /// The flags that may be set in the low byte of the plain form, because these flags do not change the layout.
    static let plainFlags: UInt16 = 0b0111_0111

    /// The two bits that tell how a time is stored.
    enum Length {
      /// The time takes no bytes: `expires` is never, `staleUntil` equals `expires`, or `deadline` equals `staleUntil`.
      static let none: UInt16 = 0
      static let short: UInt16 = 1
      static let long: UInt16 = 2
      /// The time takes no bytes, because `staleUntil` or `deadline` is never. Not used for `expires`.
      static let never: UInt16 = 3
    }

    @inline(__always)
    func length(_ shift: UInt16) -> UInt16 { bits &>> shift & 3 }

    var size: Int {
      let fields = bits & Self.hasFields == 0 ? 0 : 4
      if bits & Self.wide != 0 { return EntryHeader.wideSize + fields }
      let number = bits & Self.longNumbers == 0 ? 4 : 6
      var size = EntryHeader.fixedSize + number + fields
      if bits & Self.ownSequence != 0 { size += number }
      for shift in [Self.expiresShift, Self.staleShift, Self.deadlineShift] {
        size += Self.bytes(length(shift))
      }
      return size
    }

    @inline(__always)
    static func bytes(_ length: UInt16) -> Int {
      length == Length.short ? 4 : length == Length.long ? 6 : 0
    }
  }

  /// The bytes of checksum, form, codec and time of writing.
  static let fixedSize = 17
  /// A header with large numbers: the fixed part, 2 more bytes of the time of writing, and five numbers of 8 bytes.
  static let wideSize = 17 + 2 + 5 * 8
  static let plainSize = 25
  static let largestSize = wideSize + 4
}
