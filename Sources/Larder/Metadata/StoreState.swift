import LMDB
import LarderSystem

/// What changes with every write of the store as a whole.
struct StoreState: Equatable {
  /// Rises whenever a name, an id, a rule or a tombstone changes; processes that cached those then look again.
  var generation: UInt64 = 1
  var nextID: UInt64 = 1
  var tombstones: UInt64 = 0
  var entries: UInt64 = 0
  var bytes: UInt64 = 0
  var stored: UInt64 = 0
  /// When something was last written or purged, by the clock of whoever did.
  var lastStamp: UInt64 = 0
  /// One more than the monotonic moment at which a purge first met a clock that had jumped ahead; 0 if none did.
  var suspectSince: UInt64 = 0
  /// Cleared ids whose entries are still in the file.
  var garbage: UInt64 = 0
  /// No record of the deadline index is earlier than this, so that nothing is due before it; ``EntryHeader/never`` if
  /// there is none. It may be too early, and a purge that comes to the end sets it right.
  var nextDue = UInt64(EntryHeader.never)
  /// Entries that have an owner: while there are none, nobody looks for any.
  var dependents: UInt64 = 0
  /// Commits made for nothing but to let pages freed before them be used again.
  var ages: UInt64 = 0
  /// 1 once somebody has watched the store: from then on writers look whether somebody does.
  var watched: UInt64 = 0
  /// When some process last began its maintenance, by its clock; 0 if none ever did.
  var maintained: UInt64 = 0

  init() {}

  init(_ bytes: Span<UInt8>) {
    var words = WordReader(bytes)
    generation = words.next()
    nextID = words.next()
    tombstones = words.next()
    entries = words.next()
    self.bytes = words.next()
    stored = words.next()
    lastStamp = words.next()
    suspectSince = words.next()
    garbage = words.next()
    nextDue = words.next()
    dependents = words.next()
    ages = words.next()
    watched = words.next()
    maintained = words.next()
  }

  var encoded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(112)
    for word in [
      generation, nextID, tombstones, entries, bytes, stored, lastStamp, suspectSince, garbage,
      nextDue, dependents, ages, watched, maintained,
    ] {
      result.append(word: word)
    }
    return result
  }

  /// Whether the deadline index may have something that is due; a record without the word says yes.
  func mayBeDue(at now: Timestamp) -> Bool { Int64(clamping: nextDue) <= now.milliseconds }
}

/// Reads little-endian words one after the other; 0 for those a shorter, older record lacks.
struct WordReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  mutating func next() -> UInt64 {
    guard offset + 8 <= bytes.count else { return 0 }
    defer { offset += 8 }
    return bytes.word(at: offset)
  }
}
