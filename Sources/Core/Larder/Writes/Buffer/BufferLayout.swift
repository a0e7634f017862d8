import LarderSystem

/// The places in the file `buffer`, in 64-bit words of a ``SharedTable``: a header, slots of namespaces, hash tables, and logs.
struct BufferLayout {
  enum Place {
    /// One word: ``BufferState``.
    static let state = 0
    /// The end of the last complete record in the active log. If the writer was killed, readers may not see this record yet. A
    /// record after this end does not count.
    static let tail = 1
    static let lock = 2
    /// Two words: the base of the records (the newest commit that contains no record of the logs), and an earlier base.
    static let base = 3
    /// The generation of the metadata in the base.
    static let metadata = 5
    /// Two words: the ``BufferRoom`` of the store (how much still fits into the limits).
    static let room = 6
    /// The number of pages of the data file that a commit may still take for further records.
    static let pages = 8
    static let watched = 9
    /// Not 0 if no process may append any more.
    static let isClosed = 10
    /// Whether some entries have owners. If so, the removal of one entry may remove other entries, too.
    static let dependents = 11
    /// Four words: the boot of the machine and the data file to which the records belong.
    static let origin = 12
    static let olderEnd = 16
    /// Two words: the ``BufferCharge`` of the active log's records for the store.
    static let charge = 17
    /// The number of pages that the records of the active log may take.
    static let chargedPages = 19
    static let namespaces = 20
    static let table = 264
  }

  static let namespaceCount = 40
  static let namespaceSize = 6

  /// The number of places in each hash table, a power of two.
  let slots: Int

  /// The size of each log in words.
  var logSize: Int { 8 * slots }
  var wideCount: Int { Place.table + 2 * (slots + logSize) }
  var count: Int { 2 * wideCount }

  private static let possible = (11...19).map { BufferLayout(slots: 1 << $0) }

  /// The largest layout whose two logs have at most `bytes` bytes together. The logs have 256 KB to 64 MB.
  init(bytes: Int) { self = Self.possible.last { 2 * $0.logSize * 8 <= bytes } ?? Self.possible[0] }

  init?(count: Int) {
    guard let found = Self.possible.first(where: { $0.count == count }) else { return nil }
    self = found
  }

  private init(slots: Int) { self.slots = slots }

  static func namespace(_ index: Int) -> Int { Place.namespaces + index * namespaceSize }

  /// The start of the hash table of a generation. Two successive generations use different tables and different logs.
  func table(of generation: UInt64) -> Int { Place.table + Int(generation & 1) * slots }

  func log(of generation: UInt64) -> Int { Place.table + 2 * slots + Int(generation & 1) * logSize }
}

/// One word that says which records are valid. A single atomic store changes the whole word.
struct BufferState: Equatable {
  private static let endMask: UInt64 = 0xFF_FFFF
  private static let baseBit: UInt64 = 1 << 24
  private static let frozenBit: UInt64 = 1 << 25
  private static let phaseShift: UInt64 = 26

  var word: UInt64

  static let first = BufferState(generation: 1, end: 0, 0)

  init(word: UInt64) { self.word = word }

  init(in view: borrowing SharedTable.View) { word = view.acquire(BufferLayout.Place.state) }

  private init(generation: UInt64, hasOlder: Bool = false, end: Int, _ base: UInt64) {
    let phase = 2 &* generation &- (hasOlder ? 1 : 0)
    word = phase &<< Self.phaseShift | base & Self.baseBit | UInt64(end)
  }

  /// Each commit of records increases this number. An odd number means that a commit of the older log is under way.
  private var phase: UInt64 { word &>> Self.phaseShift }

  /// The end of the visible records in the active log, in words.
  var end: Int { Int(word & Self.endMask) }
  /// Whether a transaction commits all records or has committed them. While this is true, no process appends.
  var isFrozen: Bool { word & Self.frozenBit != 0 }
  /// Whether a transaction commits or has committed the records of the older log. Meanwhile processes append to the active log.
  var hasOlder: Bool { phase & 1 == 1 }
  var hasRecords: Bool { word & Self.endMask != 0 || hasOlder }
  /// The number of the generation in the active log. The older log has the previous generation.
  var generation: UInt64 { (phase &+ 1) &>> 1 }
  var olderGeneration: UInt64 { generation &- 1 }
  /// The first generation that the commit `commit` does not contain, where `base` is the base of this state. Nil if the commit
  /// contains all records, or belongs to other data.
  func firstGeneration(after commit: UInt64, base: UInt64) -> UInt64? {
    if base == commit { return hasOlder ? olderGeneration : generation }
    return hasOlder && !isFrozen && commit == base &+ 1 ? generation : nil
  }
  /// Which of the two words at ``Place/base`` has the base of the records. A killed process may have changed the other word.
  var base: Int { word & Self.baseBit == 0 ? 0 : 1 }
  /// Whether places of much older generations may look like places of this generation, so that the table must be emptied. Each
  /// table is emptied twice, because the first emptying keeps the places of the older log.
  var needsEmptyTable: Bool { generation & 0xFFFF < 4 }
  /// Whether half of all generations are used. If the numbers began again in an open store, a read would take older data as new.
  var isOld: Bool { word.leadingZeroBitCount == 0 }
  /// If two states have the same epoch, no records were committed or frozen between them.
  var epoch: UInt64 { word & ~Self.endMask }
  /// A number that every record and every commit increases.
  var stamp: UInt64 { word & ~Self.frozenBit }

  func extended(to end: Int) -> BufferState { BufferState(word: epoch | UInt64(end)) }
  var frozen: BufferState { BufferState(word: word | Self.frozenBit) }
  var thawed: BufferState { BufferState(word: stamp) }
  var empty: BufferState { BufferState(generation: generation, end: 0, word) }
  /// The state after the logs have changed their roles. Before the change, only the active log may have records.
  var turned: BufferState { BufferState(generation: generation &+ 1, hasOlder: true, end: 0, word) }
  /// The state after a commit of the older log.
  var merged: BufferState { BufferState(generation: generation, end: end, ~word) }
  /// The state after a commit of all records.
  var next: BufferState { BufferState(generation: generation &+ 1, end: 0, ~word) }
}

/// A place in a hash table (`Docs/Internals/FileFormat.md`). A place of another generation counts as free.
struct BufferSlot {
  private static let usedBit: UInt64 = 1 << 31

  var word: UInt64

  init(word: UInt64) { self.word = word }

  init(_ hash: UInt64, _ generation: UInt64, offset: Int) {
    word = Self.mark(hash, generation) | UInt64(offset)
  }

  static func mark(_ hash: UInt64, _ generation: UInt64) -> UInt64 {
    hash & 0xFFFF_0000_0000_0000 | (generation & 0xFFFF) &<< 32 | usedBit
  }

  var offset: Int { Int(word & (Self.usedBit - 1)) }
  func isOf(_ generation: UInt64) -> Bool {
    word & 0xFFFF_8000_0000 == (generation & 0xFFFF) &<< 32 | Self.usedBit
  }
  func mayBe(_ hash: UInt64, _ generation: UInt64) -> Bool {
    word & ~(Self.usedBit - 1) == Self.mark(hash, generation)
  }
}
