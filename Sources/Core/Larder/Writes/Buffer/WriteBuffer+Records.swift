import LarderSystem

/// The log of a generation, in the form that a commit takes over.
struct BufferContents {
  struct Namespace {
    /// The version of the next value.
    var next: UInt64 = 0
    /// Values of the buffer that later records have replaced or removed.
    var removals = RemovalCounters()
  }

  /// The newest record of each key, in the order of the keys. Removals come first, so that the entries behind them find room.
  private(set) var places: [BufferPlace] = []
  private(set) var namespaces: [NamespaceID: Namespace] = [:]
  /// When the values were written, in the order of the log.
  private(set) var times: [Int64] = []
  /// Reading ended at a damaged record: the lengths behind it cannot be trusted.
  private(set) var isDamaged = false

  /// - Parameter state: a frozen state.
  init(of buffer: WriteBuffer, _ state: BufferState) {
    var offset = 0
    let end = min(state.end, buffer.layout.logSize)
    while offset < end {
      let size = buffer.withEntry(at: offset, in: state) { record, key, entry, header -> Int in
        places.append(BufferPlace(record, key, at: offset))
        note(record, header)
        return record.size
      }
      guard let size else {
        isDamaged = true
        break
      }
      offset += size
    }
    let table = buffer.table
    places = Self.newest(of: places, table.view, buffer.layout)
  }

  private static func newest(
    of places: [BufferPlace], _ view: borrowing SharedTable.View, _ layout: BufferLayout
  ) -> [BufferPlace] {
    let sorted = places.sorted { $0.order($1, view, layout) ?? ($0.offset < $1.offset) }
    var (removals, entries): ([BufferPlace], [BufferPlace]) = ([], [])
    for (index, place) in sorted.enumerated() {
      let hasNewer =
        index + 1 < sorted.count && place.order(sorted[index + 1], view, layout) == nil
      if hasNewer { continue }
      if place.isRemoval { removals.append(place) } else { entries.append(place) }
    }
    return removals + entries
  }

  private mutating func note(_ record: BufferRecord, _ header: EntryHeader?) {
    var namespace = namespaces[record.id] ?? Namespace()
    if let header {
      if times.last != header.written { times.append(header.written) }
      namespace.next = header.version &+ 1
    }
    if let size = record.replaced {
      namespace.removals.count(record.isRemoval ? .removed : .replaced, bytes: size)
    }
    namespaces[record.id] = namespace
  }
}

/// The place of a record in the log, and its place in the order of storing.
struct BufferPlace {
  let isRemoval: Bool
  private let id: UInt32
  private let keyCount: UInt16
  private let firstBytes: UInt64
  let offset: Int

  init(_ record: BufferRecord, _ key: Span<UInt8>, at offset: Int) {
    isRemoval = record.isRemoval
    id = record.id.rawValue
    keyCount = UInt16(record.keyCount)
    var first: UInt64 = 0
    for index in 0..<min(8, key.count) { first |= UInt64(key[index]) &<< UInt64(56 - 8 * index) }
    firstBytes = first
    self.offset = offset
  }

  /// Whether the key is before that of the other record in the database of entries; nil if the keys are equal.
  func order(
    _ other: BufferPlace, _ view: borrowing SharedTable.View, _ layout: BufferLayout
  ) -> Bool? {
    if id != other.id { return id < other.id }
    if firstBytes != other.firstBytes { return firstBytes < other.firstBytes }
    let (own, others) = (start(layout), other.start(layout))
    for word in 1..<max(1, SharedTable.View.wideCount(ofBytes: Int(min(keyCount, other.keyCount))))
    {
      let (left, right) = (view.wide(own + word).byteSwapped, view.wide(others + word).byteSwapped)
      if left != right { return left < right }
    }
    return keyCount == other.keyCount ? nil : keyCount < other.keyCount
  }

  /// The word at which the key begins.
  private func start(_ layout: BufferLayout) -> Int {
    layout.log + offset + BufferRecord.headerSize
  }
}

extension WriteBuffer {
  /// Lends the record at an offset, with its key, entry and header; nil if the record is damaged. A removal has no header.
  func withEntry<Result, Failure>(
    at offset: Int, in state: BufferState,
    _ body: (BufferRecord, Span<UInt8>, Span<UInt8>, EntryHeader?) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let table = table
    let view = table.view
    guard let record = BufferRecord(at: offset, before: state.end, view, layout),
      record.isSealed(at: offset, in: state, view, layout)
    else { return nil }
    let start = layout.log + offset
    let (keyStart, keyEnd) = (start + BufferRecord.headerSize, record.keyCount)
    return try withStackBytes(
      record.keyCount + record.entryCount,
      {
        view.copy(record.keyCount, wide: keyStart, to: &$0)
        view.copy(record.entryCount, wide: start + record.entryStart, to: &$0)
      },
      { (bytes) throws(Failure) -> Result? in
        let (key, entry) = (
          bytes.extracting(0..<keyEnd), bytes.extracting(keyEnd..<bytes.count)
        )
        guard Checksum.keyHash(of: key, in: record.id) == record.keyHash else { return nil }
        if record.isRemoval { return try body(record, key, entry, nil) }
        guard EntryHeader.isIntact(entry, keyHash: record.keyHash),
          let header = EntryHeader(entry), header.flags.isEmpty, header.fieldsCount == 0
        else { return nil }
        return try body(record, key, entry, header)
      })
  }
}
