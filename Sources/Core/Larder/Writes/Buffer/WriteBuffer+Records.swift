import LarderSystem

/// The log of a generation, as a commit takes it over.
struct BufferContents {
  struct Entry {
    /// The key in the database of entries.
    var entryKey: [UInt8]
    var key: [UInt8]
    /// Header and value, as the database has them.
    var bytes: [UInt8]
    var header: EntryHeader

    /// The namespace id and the first bytes of the key, which decide nearly every comparison.
    var order: (UInt32, UInt64)

    static func < (left: Entry, right: Entry) -> Bool {
      left.order != right.order
        ? left.order < right.order : left.entryKey.lexicographicallyPrecedes(right.entryKey)
    }
  }

  struct Namespace {
    /// The version of the next value.
    var next: UInt64 = 0
    /// Values that later records have replaced, and their bytes.
    var replaced: (entries: UInt64, bytes: Int) = (0, 0)
  }

  /// The newest entry of each key, in the order of the keys. Where the hash table is damaged, older ones may be beside it.
  private(set) var entries: [Entry] = []
  private(set) var namespaces: [NamespaceID: Namespace] = [:]
  /// When the values were written, in the order of the log.
  private(set) var times: [Int64] = []
  /// Reading ended at a damaged record: no length behind it can be believed.
  private(set) var isDamaged = false

  /// - Parameter state: one that is frozen.
  init(of buffer: WriteBuffer, _ state: BufferState) {
    var offset = 0
    let end = min(state.end, buffer.layout.logSize)
    while offset < end {
      guard let record = buffer.record(at: offset, before: end, state),
        let (header, isNewest, entry) = buffer.entry(of: record, at: offset, state)
      else {
        isDamaged = true
        break
      }
      offset += record.size
      if times.last != header.written { times.append(header.written) }
      namespaces[record.id, default: Namespace()].next = header.version &+ 1
      if isNewest {
        entries.append(entry)
      } else {
        namespaces[record.id]?.replaced.entries += 1
        namespaces[record.id]?.replaced.bytes += entry.bytes.count - header.payloadStart
      }
    }
    entries.sort(by: <)
  }
}

extension WriteBuffer {
  /// The record at an offset; nil if it is damaged.
  fileprivate func record(at offset: Int, before end: Int, _ state: BufferState) -> BufferRecord? {
    let table = table
    let view = table.view
    guard let record = BufferRecord(at: offset, before: end, view, layout),
      record.isSealed(at: offset, in: state, view, layout)
    else { return nil }
    return record
  }

  /// The checked entry of a record, and whether it is the newest of its key; nil if it is damaged.
  fileprivate func entry(
    of record: BufferRecord, at offset: Int, _ state: BufferState
  ) -> (EntryHeader, isNewest: Bool, BufferContents.Entry)? {
    let table = table
    let view = table.view
    let start = layout.log + offset
    let key = [UInt8](count: record.keyCount) {
      view.copy(record.keyCount, wide: start + BufferRecord.headerSize, to: &$0)
    }
    let bytes = [UInt8](count: record.entryCount) {
      view.copy(record.entryCount, wide: start + record.entryStart, to: &$0)
    }
    guard Checksum.keyHash(of: key.span, in: record.id) == record.keyHash,
      EntryHeader.isIntact(bytes.span, keyHash: record.keyHash),
      let header = EntryHeader(bytes.span), header.flags.isEmpty, header.fieldsCount == 0
    else { return nil }
    let newest = find(key.span, in: record.id, keyHash: record.keyHash, state)?.offset ?? offset
    let first = UInt64(bigEndianBytes: key.prefix(8)) &<< UInt64(8 * max(0, 8 - key.count))
    return (
      header, newest <= offset,
      BufferContents.Entry(
        entryKey: StoredKey.entry(key.span, in: record.id), key: key, bytes: bytes,
        header: header, order: (record.id.rawValue, first))
    )
  }
}
