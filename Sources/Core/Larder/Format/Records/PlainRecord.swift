import LarderSystem

/// Reads records that have no fields and a frequent form of the header, faster than ``EntryHeader``.
enum PlainRecord {
  /// Whether the record is plain, and is fresh at `now` and 10 ms later, because the coarse clock may be 10 ms behind. False
  /// for a large record, because ``VerifiedValues`` does not verify large records at each read.
  @inline(__always)
  static func isFresh(_ record: Span<UInt8>, at now: Int64) -> Bool {
    guard record.count >= EntryHeader.plainSize, record.count <= VerifiedValues.threshold else {
      return false
    }
    let bytes = record.extracting(0..<EntryHeader.plainSize)
    let form = UInt16(truncatingIfNeeded: bytes.word(at: 8))
    switch form & ~UInt16(EntryHeader.Flags.pinned.rawValue) {
    case EntryHeader.Form.plain:
      let written = Int64(bitPattern: bytes.word(at: 9) &>> 16)
      let expires = written &+ Int64(bytes.halfWord(at: 21))
      return now &+ 10 < expires && written &- 60_000 <= now
    case 0: return true
    default: return false
    }
  }

  @inline(__always)
  @_lifetime(copy record)
  static func payload(of record: Span<UInt8>) -> Span<UInt8> {
    let form = record.halfWord(at: 8) & ~UInt32(EntryHeader.Flags.pinned.rawValue) & 0xFFFF
    let size = form == 0 ? EntryHeader.plainSize &- 4 : EntryHeader.plainSize
    return record.extracting(size..<record.count)
  }
}
