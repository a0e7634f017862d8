import LarderSystem

/// A record of the log: a key, and its entry in the form of the database of entries. `Docs/Internals/FileFormat.md` has its words.
struct BufferRecord: Equatable {
  static let headerSize = 4
  /// The hash table has a place for every eight words of the log. Each record has more words, so the table is never full.
  private static let leastSize = 10
  static let longestKey = StoredKey.longestShort
  static let largestEntry = 16_384 + EntryHeader.largestSize + 1024

  let id: NamespaceID
  let keyHash: UInt64
  let keyCount: Int
  let entryCount: Int
}

extension BufferRecord {
  var isRemoval: Bool { entryCount == 0 }

  var size: Int {
    max(Self.leastSize, entryStart + SharedTable.View.wideCount(ofBytes: entryCount))
  }

  var entryStart: Int { Self.headerSize + SharedTable.View.wideCount(ofBytes: keyCount) }

  /// Reads the record of a generation at `offset` of its log; the log ends at `end`. Nil if no record can begin at this offset.
  init?(
    at offset: Int, before end: Int, of generation: UInt64, _ view: borrowing SharedTable.View,
    _ layout: BufferLayout
  ) {
    guard offset >= 0, end <= layout.logSize, offset <= end - Self.headerSize else { return nil }
    let start = layout.log(of: generation) + offset
    let counts = view.wide(start + 1)
    id = NamespaceID(rawValue: UInt32(truncatingIfNeeded: view.wide(start + 2)))
    keyHash = view.wide(start + 3)
    keyCount = Int(counts & 0xFFFF)
    entryCount = Int(counts &>> 16 & 0xFFFF_FFFF)
    guard (1...Self.longestKey).contains(keyCount),
      isRemoval || entryCount > EntryHeader.checksumSize, entryCount <= Self.largestEntry,
      size <= end - offset
    else { return nil }
  }

  private var counts: UInt64 { UInt64(keyCount) | UInt64(entryCount) &<< 16 }

  func write(
    _ key: Span<UInt8>, _ entry: Span<UInt8>, at offset: Int, of generation: UInt64,
    _ view: borrowing SharedTable.View, _ layout: BufferLayout
  ) {
    let start = layout.log(of: generation) + offset
    let checksum = isRemoval ? 0 : entry.word(at: 0)
    view.store(seal(checksum, at: offset, of: generation), wide: start)
    view.store(counts, wide: start + 1)
    view.store(UInt64(id.rawValue), wide: start + 2)
    view.store(keyHash, wide: start + 3)
    view.store(key, wide: start + Self.headerSize)
    view.store(entry, wide: start + entryStart)
  }

  func isOf(
    _ key: Span<UInt8>, in id: NamespaceID, _ keyHash: UInt64, at start: Int,
    _ view: borrowing SharedTable.View
  ) -> Bool {
    self.keyHash == keyHash && self.id == id && keyCount == key.count
      && view.holds(key, wide: start + Self.headerSize)
  }

  /// Whether this record was written at `offset` in the generation. Does not compare the entry with its checksum.
  func isSealed(
    at offset: Int, of generation: UInt64, _ view: borrowing SharedTable.View,
    _ layout: BufferLayout
  ) -> Bool {
    let start = layout.log(of: generation) + offset
    let checksum = isRemoval ? 0 : view.wide(start + entryStart)
    return view.wide(start) == seal(checksum, at: offset, of: generation)
  }

  /// The seal, made from the record's words and `checksum`, which covers the hash of the key and the whole entry.
  private func seal(_ checksum: UInt64, at offset: Int, of generation: UInt64) -> UInt64 {
    var seal = Checksum.mix(checksum ^ generation, keyHash | 1)
    seal = Checksum.mix(seal ^ UInt64(offset), counts | 1 &<< 63)
    return Checksum.mix(seal ^ UInt64(id.rawValue), 0x9E37_79B9_7F4A_7C15)
  }
}
