import LarderSystem

/// The places in the file `buffer`, counted in 64-bit words of a ``SharedTable``: a header, the slots of namespaces, a hash
/// table, and the log of records.
struct BufferLayout {
  enum Place {
    /// One word: ``BufferState``.
    static let state = 0
    /// The end of the log, including the record that is being written. No record after this end was ever completely written.
    static let tail = 1
    static let lock = 2
    /// Two words: the base of this generation (the commit that its records change), and the base of another generation.
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
    /// Four words: the boot of the machine and the data file for which this file was made.
    static let origin = 12
    static let namespaces = 16
    static let table = 256
  }

  static let namespaceCount = 40
  static let namespaceSize = 6

  /// The number of places in the hash table, a power of two.
  let slots: Int

  var log: Int { Place.table + slots }
  /// The size of the log in words.
  var logSize: Int { 8 * slots }
  var wideCount: Int { log + logSize }
  var count: Int { 2 * wideCount }

  private static let possible = (12...20).map { BufferLayout(slots: 1 << $0) }

  /// The largest layout whose log has at most `bytes` bytes. The log has 256 KB to 64 MB.
  init(bytes: Int) {
    self = Self.possible.last { $0.logSize * 8 <= bytes } ?? Self.possible[0]
  }

  init?(count: Int) {
    guard let found = Self.possible.first(where: { $0.count == count }) else { return nil }
    self = found
  }

  private init(slots: Int) { self.slots = slots }

  static func namespace(_ index: Int) -> Int { Place.namespaces + index * namespaceSize }
}

/// One word that says which records are valid. A single atomic store changes the whole word.
struct BufferState: Equatable {
  private static let endMask: UInt64 = 0xFFFF_FFFF
  private static let baseBit: UInt64 = 1 << 32
  private static let frozenBit: UInt64 = 1 << 33
  private static let generationShift: UInt64 = 34

  var word: UInt64

  static let first = BufferState(word: 1 << generationShift)

  /// The end of the visible records in the log, in words.
  var end: Int { Int(word & Self.endMask) }
  /// Whether a transaction commits the records or has committed them. While this is true, no process appends.
  var isFrozen: Bool { word & Self.frozenBit != 0 }
  /// A number that increases with every commit. Each record belongs to one generation. The low 16 bits of the number are never
  /// 0, because 0 marks an empty place in the hash table.
  var generation: UInt64 { word &>> Self.generationShift }
  /// Which of the two words has the base of this generation. A killed process may have changed the other word.
  var base: Int { word & Self.baseBit == 0 ? 0 : 1 }
  /// Whether places of much older generations may look like places of this generation, so that the table must be emptied.
  var needsEmptyTable: Bool { generation & 0xFFFF == 1 }
  /// If two states have the same epoch, no records were committed or frozen between them.
  var epoch: UInt64 { word & ~Self.endMask }
  /// A number that every record and every commit increases.
  var stamp: UInt64 { word & ~Self.frozenBit }

  func extended(to end: Int) -> BufferState { BufferState(word: epoch | UInt64(end)) }
  var frozen: BufferState { BufferState(word: word | Self.frozenBit) }
  var thawed: BufferState { BufferState(word: stamp) }
  var empty: BufferState { BufferState(word: epoch & ~Self.frozenBit) }
  var next: BufferState {
    let next = (generation &+ 1) & 0xFFFF == 0 ? generation &+ 2 : generation &+ 1
    return BufferState(word: next &<< Self.generationShift | ~word & Self.baseBit)
  }
}

/// A place in the hash table: 16 bits of the hash, 16 bits of the generation, and the offset of the record in the log. A place
/// of another generation counts as free.
struct BufferSlot {
  var word: UInt64

  init(word: UInt64) { self.word = word }

  init(_ hash: UInt64, _ state: BufferState, offset: Int) {
    word = Self.mark(hash, state) | UInt64(offset)
  }

  static func mark(_ hash: UInt64, _ state: BufferState) -> UInt64 {
    hash & 0xFFFF_0000_0000_0000 | (state.generation & 0xFFFF) &<< 32
  }

  var offset: Int { Int(word & 0xFFFF_FFFF) }
  func isOf(_ state: BufferState) -> Bool { (word &>> 32) & 0xFFFF == state.generation & 0xFFFF }
  func mayBe(_ hash: UInt64, _ state: BufferState) -> Bool {
    word & ~0xFFFF_FFFF == Self.mark(hash, state)
  }
}
