import LMDB
import LarderSystem

/// How long an entry may lie unused, in milliseconds, more than zero.
///
/// The end of such an entry is real: `end(after:)` its last re-arm, in its header like any other. A sixteenth of the
/// interval is added, so that use within the first sixteenth needs no write.
struct IdleInterval: Hashable, Sendable {
  let milliseconds: Int64

  init?(milliseconds: Int64) {
    guard milliseconds > 0 else { return nil }
    self.milliseconds = milliseconds
  }

  init?(_ duration: Duration) { self.init(milliseconds: duration.milliseconds) }

  /// When an entry ends that was last re-armed at a moment.
  func end(after moment: Int64) -> Int64 {
    moment.addingWithinBounds(milliseconds).addingWithinBounds(milliseconds / 16)
  }

  /// From when on use is to be remembered, of an entry that ends at `end`: a sixteenth of the interval after the last
  /// re-arm.
  func due(end: Int64) -> Int64 {
    end == EntryHeader.never ? end : end.addingWithinBounds(-milliseconds)
  }
}

extension Int64 {
  /// The sum, or the end of what can be said that it would lie beyond.
  fileprivate func addingWithinBounds(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}

extension EntryFields {
  /// The field is 8 bytes, little-endian.
  var idle: IdleInterval? {
    get {
      self[.idleInterval].flatMap { bytes in
        bytes.count == 8
          ? IdleInterval(milliseconds: Int64(bitPattern: bytes.span.word(at: 0))) : nil
      }
    }
    set {
      self[.idleInterval] = newValue.map { interval in
        var bytes: [UInt8] = []
        bytes.append(word: UInt64(bitPattern: interval.milliseconds))
        return bytes
      }
    }
  }
}

extension EntryHeader {
  /// How long an entry may lie unused, found in its record without a copy of the fields.
  func idle(in record: Span<UInt8>) -> IdleInterval? {
    var offset = Self.size
    while offset + 5 <= payloadStart {
      let count = Int(record.halfWord(at: offset + 1))
      guard count <= payloadStart - offset - 5 else { return nil }
      if record[offset] == EntryFields.Kind.idleInterval.rawValue, count == 8 {
        return IdleInterval(milliseconds: Int64(bitPattern: record.word(at: offset + 5)))
      }
      offset += 5 + count
    }
    return nil
  }

  /// As the memory tier may remember it: from then on a hit must look at the entry, where it is noted as use.
  func remembered(_ idle: IdleInterval?) -> EntryHeader {
    guard let idle else { return self }
    var header = self
    header.expires = min(expires, idle.due(end: expires))
    return header
  }
}
