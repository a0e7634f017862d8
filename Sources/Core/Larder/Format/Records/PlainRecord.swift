import LMDB
import LarderSystem

/// The facts of a record without fields and with a frequent form of the header; faster to read than ``EntryHeader``.
struct PlainRecord {
  let written: Int64
  let expires: Int64

  /// Nil for other forms of the header, and for large records, which are not verified at each read.
  @inline(__always)
  init?(_ record: Span<UInt8>) {
    guard record.count >= EntryHeader.plainSize, record.count <= VerifiedValues.threshold else {
      return nil
    }
    let bytes = record.extracting(0..<EntryHeader.plainSize)
    let form = UInt16(truncatingIfNeeded: bytes.word(at: 8))
    written = Int64(bitPattern: bytes.word(at: 9) &>> 16)
    switch form & ~UInt16(EntryHeader.Flags.pinned.rawValue) {
    case EntryHeader.Form.plain: expires = written &+ Int64(bytes.halfWord(at: 21))
    case 0: expires = EntryHeader.never
    default: return nil
    }
  }

  @inline(__always)
  @_lifetime(copy record)
  static func payload(of record: Span<UInt8>) -> Span<UInt8> {
    let form = record.halfWord(at: 8) & ~UInt32(EntryHeader.Flags.pinned.rawValue) & 0xFFFF
    let size = form == 0 ? EntryHeader.plainSize &- 4 : EntryHeader.plainSize
    return record.extracting(size..<record.count)
  }

  /// Whether the entry is fresh at `now` and in the next 10 ms, because the coarse clock may be 10 ms behind.
  @inline(__always)
  func isFresh(at now: Int64) -> Bool {
    expires == EntryHeader.never || (now &+ 10 < expires && written &- 60_000 <= now)
  }
}
