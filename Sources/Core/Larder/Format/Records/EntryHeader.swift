import LMDB
import LarderSystem

/// The facts in front of every value, with times in milliseconds since 1970; `Docs/Internals/FileFormat.md` lists the bytes.
struct EntryHeader: Equatable {
  static let never = Int64.max

  /// Properties of an entry. The raw value is the low byte of the header's form.
  struct Flags: OptionSet, Hashable {
    let rawValue: UInt8
    /// The first field is the whole key; the entry key has only a prefix and a hash of the key.
    static let longKey = Flags(rawValue: 1)
    /// The value is in the chunks database; the payload is its length and checksum.
    static let chunked = Flags(rawValue: 2)
    /// The entry is never evicted and has no place in the queue.
    static let pinned = Flags(rawValue: 4)
    /// A field has the time to idle: an access moves the end of the entry.
    static let idle = Flags(rawValue: 16)
    /// The fields say that transforms changed the value. The flag is not stored: an entry without fields costs nothing.
    static let transformed = Flags(rawValue: 8)
    /// The entry has tags, so it may have been invalidated.
    static let tagged = Flags(rawValue: 32)
    /// A negative entry: it records that its key has no value. Reads miss it.
    static let negative = Flags(rawValue: 64)
    /// The flags that this version writes. A record with any other flag is damaged.
    static let known: Flags = [.longKey, .chunked, .pinned, .idle, .tagged, .negative]
    /// The flags that a header may have after it was read.
    static let readable: Flags = [.known, .transformed]
  }

  var flags: Flags
  var codec: UInt8
  var fieldsCount: UInt32
  /// The checksum in the record; see ``isIntact(_:keyHash:)``.
  var checksum: UInt64
  var written: Int64
  /// The time before which the entry is fresh.
  var expires: Int64
  /// The time before which the entry can be served stale; at least `expires`.
  var staleUntil: Int64
  /// The time under which the expiry index has the entry: at most `staleUntil`, or 0. ``never`` if the index does not have it.
  var deadline: Int64
  /// The entry's position in the queue of its namespace; an overwrite keeps it, except under `fifo`. 0 for a pinned entry.
  var sequence: UInt64
  /// A different number for every value that the key had in this namespace since the last power failure.
  var version: UInt64
  /// Bytes of the header in the record that it was read from; 0 for a header that was not read.
  private(set) var size: Int

  @inline(__always)
  init(
    flags: Flags, codec: UInt8, written: Int64, expires: Int64, staleUntil: Int64, deadline: Int64,
    sequence: UInt64, version: UInt64, fieldsCount: UInt32 = 0, checksum: UInt64 = 0, size: Int = 0
  ) {
    self.flags = flags
    self.codec = codec
    self.fieldsCount = fieldsCount
    self.checksum = checksum
    self.written = written
    self.expires = expires
    self.staleUntil = staleUntil
    self.deadline = deadline
    self.sequence = sequence
    self.version = version
    self.size = size
  }

  /// Whether both headers state the same facts, apart from the records that they were read from.
  func isContent(of other: EntryHeader) -> Bool {
    var own = self
    (own.checksum, own.size) = (other.checksum, other.size)
    return own == other
  }

  @inline(__always)
  var payloadStart: Int { size &+ Int(fieldsCount) }

  @inline(__always)
  var fieldsRange: Range<Int> { size..<payloadStart }

  /// Whether the checksum over namespace, key, header and the rest matches: a record under another key counts as damaged.
  @inline(__always)
  static func isIntact(_ record: Span<UInt8>, keyHash: UInt64) -> Bool {
    record.count > checksumSize && record.word(at: 0) == checksum(of: record, keyHash: keyHash)
  }

  /// The checksum for a record of more than 8 bytes.
  @inline(__always)
  static func checksum(of record: Span<UInt8>, keyHash: UInt64) -> UInt64 {
    Checksum.of(record.extracting(checksumSize..<record.count), seed: keyHash)
  }

  static let checksumSize = 8

  /// The time under which the expiry index will have an entry; `previous` is the entry as it is indexed now, or nil.
  ///
  /// An end that moves later leaves the index as it is: the purge finds the old record, sees that the entry is alive and
  /// indexes it again. So a refresh writes only the entry. An end that moves earlier is indexed at once.
  func indexedDeadline(replacing previous: EntryHeader?) -> Int64 {
    if let previous, previous.sequence == sequence, previous.deadline != Self.never,
      staleUntil >= previous.deadline
    {
      return previous.deadline
    }
    return staleUntil == Self.never ? Self.never : min(max(staleUntil, 0), ExpiryRecord.latest)
  }

  /// The numbers in a header and their lengths: 16 bits. The low 8 bits are the entry's flags, ``wide`` and ``hasFields``.
  struct Form: Equatable {
    var bits: UInt16

    /// Bits beside the flags in the low byte.
    static let wide: UInt16 = 8
    static let hasFields: UInt16 = 128

    /// Bits of the high byte.
    static let longNumbers: UInt16 = 1 << 8
    static let ownSequence: UInt16 = 1 << 9
    static let expiresShift: UInt16 = 10
    static let staleShift: UInt16 = 12
    static let deadlineShift: UInt16 = 14

    /// The form of most entries: 4-byte version, 4-byte lifetime, no stale window.
    static let plain: UInt16 = Length.short << expiresShift
    /// The bits of the low byte that do not change the layout of the plain form.
    static let plainFlags: UInt16 = 0b0111_0111

    /// The stored form of a time: 2 bits.
    enum Length {
      /// No bytes: `expires` is never; `staleUntil` is `expires`; `deadline` is `staleUntil`.
      static let none: UInt16 = 0
      static let short: UInt16 = 1
      static let long: UInt16 = 2
      /// No bytes: `staleUntil` or `deadline` is never. Not used for `expires`.
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
  /// The fixed part, 2 more bytes of the time of writing, and five numbers of 8 bytes, for values that no difference can hold.
  static let wideSize = 17 + 2 + 5 * 8
  static let plainSize = 25
  static let largestSize = wideSize + 4
}
