import LarderSystem

/// The records of one log, in the form that a commit needs.
struct BufferContents {
  /// The newest record of each key, in the order of the keys. Removals come first, so that later entries find room.
  private(set) var places: [BufferPlace] = []
  /// Copies of the keys and entries. If the file is damaged after the records were checked, the copies are still correct.
  private(set) var bytes: [UInt8] = []
  /// The next version of each namespace, and the number and size of its values that later records have replaced or removed.
  private(set) var namespaces: [NamespaceID: (next: UInt64, removals: RemovalCounters)] = [:]
  private(set) var times: [Int64] = []
  /// Whether a damaged record was found. Reading stops at that record, because the place of the next record is unknown.
  private(set) var isDamaged = false

  init(of buffer: WriteBuffer, _ log: BufferLog) {
    var all: [BufferPlace] = []
    bytes = [UInt8](capacity: 8 * log.end) { output in
      var offset = 0
      while offset < log.end {
        let size = buffer.withEntry(at: offset, in: log) { record, key, entry, header -> Int in
          all.append(BufferPlace(record, key, header, at: offset, start: output.count))
          output.append(contentsOf: key)
          output.append(contentsOf: entry)
          note(record, header)
          return record.size
        }
        guard let size else {
          isDamaged = true
          break
        }
        offset += size
      }
    }
    choose(from: all)
  }

  /// Keeps the newest record of each key, and counts the values that are removed and replaced within the log.
  private mutating func choose(from all: [BufferPlace]) {
    let sorted = all.sorted { $0.order($1, bytes.span) ?? ($0.offset < $1.offset) }
    var entries: [BufferPlace] = []
    var former: BufferPlace?
    for (index, place) in sorted.enumerated() {
      var place = place
      if let former { place.follow(former) } else { place.replacesData = !place.record.isRemoval }
      former = nil
      if index + 1 < sorted.count, place.order(sorted[index + 1], bytes.span) == nil {
        former = place
        if let size = place.valueCount {
          let isRemoved = sorted[index + 1].record.isRemoval
          namespaces[place.record.id]?.removals.count(isRemoved ? .removed : .replaced, bytes: size)
        }
      } else if place.record.isRemoval {
        places.append(place)
      } else {
        entries.append(place)
      }
    }
    places += entries
  }

  private mutating func note(_ record: BufferRecord, _ header: EntryHeader?) {
    var namespace = namespaces[record.id] ?? (next: 0, removals: RemovalCounters())
    if let header {
      if times.last != header.written { times.append(header.written) }
      namespace.next = header.version &+ 1
    }
    namespaces[record.id] = namespace
  }
}

struct BufferPlace {
  let record: BufferRecord
  let offset: Int
  /// The bytes of the value; nil for a removal.
  let valueCount: Int?
  /// Whether the first record of the key in the log was an entry, and so has replaced an entry of the key in the data, if any.
  fileprivate(set) var replacesData = false
  /// Whether an earlier record of the key in the log was a removal. If so, this record does not replace an entry of the data.
  private(set) var followsRemoval = false
  /// The offset of the copied key. The copied entry follows the key.
  private let start: Int
  private let firstBytes: UInt64

  init(
    _ record: BufferRecord, _ key: Span<UInt8>, _ header: EntryHeader?, at offset: Int, start: Int
  ) {
    (self.record, self.offset, self.start) = (record, offset, start)
    valueCount = header.map { record.entryCount - $0.payloadStart }
    var first: UInt64 = 0
    for index in 0..<min(8, key.count) { first |= UInt64(key[index]) &<< UInt64(56 - 8 * index) }
    firstBytes = first
  }

  fileprivate mutating func follow(_ former: BufferPlace) {
    replacesData = former.replacesData
    followsRemoval = former.followsRemoval || former.record.isRemoval
  }

  var key: Range<Int> { start..<start + record.keyCount }
  var entry: Range<Int> { key.upperBound..<key.upperBound + record.entryCount }

  /// Whether the key comes before the key of `other` in the database of entries; nil if both keys are equal.
  func order(_ other: BufferPlace, _ bytes: Span<UInt8>) -> Bool? {
    let (id, otherID) = (record.id.rawValue, other.record.id.rawValue)
    if id != otherID { return id < otherID }
    if firstBytes != other.firstBytes { return firstBytes < other.firstBytes }
    let common = min(record.keyCount, other.record.keyCount)
    var index = 8
    while index < common {
      // The last word of eight bytes may overlap the previous word, whose bytes are equal.
      let offset = min(index, common - 8)
      let left = bytes.word(at: start + offset).byteSwapped
      let right = bytes.word(at: other.start + offset).byteSwapped
      if left != right { return left < right }
      index += 8
    }
    return record.keyCount == other.record.keyCount ? nil : record.keyCount < other.record.keyCount
  }
}

extension WriteBuffer {
  /// Lends the record at an offset, with its key, entry and header. Nil if the record is damaged. A removal has no header.
  func withEntry<Result, Failure>(
    at offset: Int, in log: BufferLog,
    _ body: (BufferRecord, Span<UInt8>, Span<UInt8>, EntryHeader?) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let table = table
    let view = table.view
    guard let record = BufferRecord(at: offset, before: log.end, of: log.generation, view, layout),
      record.isSealed(at: offset, of: log.generation, view, layout)
    else { return nil }
    let start = layout.log(of: log.generation) + offset
    let (keyStart, keyEnd) = (start + BufferRecord.headerSize, record.keyCount)
    return try withStackBytes(
      record.keyCount + record.entryCount,
      {
        view.copy(record.keyCount, wide: keyStart, to: &$0)
        view.copy(record.entryCount, wide: start + record.entryStart, to: &$0)
      },
      { (bytes) throws(Failure) -> Result? in
        let (key, entry) = (bytes.extracting(0..<keyEnd), bytes.extracting(keyEnd..<bytes.count))
        guard Checksum.keyHash(of: key, in: record.id) == record.keyHash else { return nil }
        if record.isRemoval { return try body(record, key, entry, nil) }
        guard EntryHeader.isIntact(entry, keyHash: record.keyHash),
          let header = EntryHeader(entry), header.flags.isEmpty, header.fieldsCount == 0
        else { return nil }
        return try body(record, key, entry, header)
      })
  }
}
