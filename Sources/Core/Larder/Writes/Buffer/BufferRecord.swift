import LarderSystem

/// A record of the log: which key it is of, and the entry as the database of entries will have it.
///
///     word 0  seal
///          1  bytes of the key (u16), of the entry (u32)
///          2  namespace id
///          3  hash of namespace and key
///          4  the key, then the entry, each filled to a whole word
struct BufferRecord: Equatable {
  static let headerSize = 4
  static let longestKey = StoredKey.longestShort
  /// Entries of more bytes go straight to LMDB.
  static let largestEntry = 16_384 + EntryHeader.largestSize + 1024

  let id: NamespaceID
  let keyHash: UInt64
  let keyCount: Int
  let entryCount: Int

  init(id: NamespaceID, keyHash: UInt64, keyCount: Int, entryCount: Int) {
    self.id = id
    self.keyHash = keyHash
    self.keyCount = keyCount
    self.entryCount = entryCount
  }

  /// Words of the whole record.
  var size: Int {
    Self.headerSize + SharedTable.View.wideCount(ofBytes: keyCount)
      + SharedTable.View.wideCount(ofBytes: entryCount)
  }

  /// Where the entry begins in the record.
  var entryStart: Int { Self.headerSize + SharedTable.View.wideCount(ofBytes: keyCount) }

  /// Reads the record at `offset` of the log that ends at `end`; nil if there can be none.
  init?(at offset: Int, before end: Int, _ view: borrowing SharedTable.View, _ layout: BufferLayout)
  {
    guard offset >= 0, end <= layout.logSize, offset <= end - Self.headerSize else { return nil }
    let start = layout.log + offset
    let counts = view.wide(start + 1)
    id = NamespaceID(rawValue: UInt32(truncatingIfNeeded: view.wide(start + 2)))
    keyHash = view.wide(start + 3)
    keyCount = Int(counts & 0xFFFF)
    entryCount = Int(counts &>> 16 & 0xFFFF_FFFF)
    guard (1...Self.longestKey).contains(keyCount), entryCount > EntryHeader.checksumSize,
      entryCount <= Self.largestEntry, size <= end - offset
    else { return nil }
  }

  /// Writes the record behind the end of the log.
  func write(
    _ key: Span<UInt8>, _ entry: Span<UInt8>, at offset: Int, in state: BufferState,
    _ view: borrowing SharedTable.View, _ layout: BufferLayout
  ) {
    let start = layout.log + offset
    view.store(seal(entry.word(at: 0), at: offset, in: state), wide: start)
    view.store(UInt64(keyCount) | UInt64(entryCount) &<< 16, wide: start + 1)
    view.store(UInt64(id.rawValue), wide: start + 2)
    view.store(keyHash, wide: start + 3)
    view.store(key, wide: start + Self.headerSize)
    view.store(entry, wide: start + entryStart)
  }

  /// Whether this is the record that was written at `offset` in that generation. The entry has a checksum of its own.
  func isSealed(
    at offset: Int, in state: BufferState, _ view: borrowing SharedTable.View,
    _ layout: BufferLayout
  ) -> Bool {
    let start = layout.log + offset
    return view.wide(start) == seal(view.wide(start + entryStart), at: offset, in: state)
  }

  /// The checksum of the entry covers the hash of its key and all of the entry.
  private func seal(_ checksum: UInt64, at offset: Int, in state: BufferState) -> UInt64 {
    var seal = Checksum.mix(checksum ^ state.generation, keyHash | 1)
    seal = Checksum.mix(
      seal ^ UInt64(offset), UInt64(keyCount) | UInt64(entryCount) &<< 16 | 1 &<< 63)
    return Checksum.mix(seal ^ UInt64(id.rawValue), 0x9E37_79B9_7F4A_7C15)
  }
}
