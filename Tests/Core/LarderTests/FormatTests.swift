import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct FormatTests {
  /// An encoded record: the header, as many bytes of fields as the header says, and `payload` further bytes.
  private func encoded(_ header: EntryHeader, payload: Int = 3) -> [UInt8] {
    let size = header.form.size
    return [UInt8](count: size + Int(header.fieldsCount) + payload) { record in
      header.append(to: &record, header.form)
      #expect(record.count == size)
      for _ in 0..<Int(header.fieldsCount) + payload { record.append(9) }
      EntryHeader.seal(&record, keyHash: 5)
    }
  }

  private func isIntact(_ record: [UInt8], keyHash: UInt64 = 5) -> Bool {
    EntryHeader.isIntact(record.span, keyHash: keyHash)
  }

  private func fields(_ bytes: [UInt8]) -> EntryFields? { EntryFields(bytes.span) }

  private func position(_ bytes: [UInt8], at offset: Int) -> (position: UInt64, end: Int)? {
    QueuePosition.read(bytes.span, at: offset)
  }

  private func expiryRecord(_ key: [UInt8], _ value: [UInt8]) -> ExpiryRecord? {
    ExpiryRecord(key.span, value.span)
  }

  private func plain(_ change: (inout EntryHeader) -> Void = { _ in }) -> EntryHeader {
    let written: Int64 = 1_790_000_000_000
    var header = EntryHeader(
      flags: [], codec: 2, written: written, expires: written + 86_400_000,
      staleUntil: written + 86_400_000, deadline: written + 86_400_000, sequence: 8, version: 8)
    change(&header)
    return header
  }

  @Test func `the header of a plain entry takes 25 bytes, and no more than 37 after overwrites`() {
    #expect(plain().form.size == 25)
    let never = EntryHeader.never
    let lasting = plain { ($0.expires, $0.staleUntil, $0.deadline) = (never, never, never) }
    #expect(lasting.form.size == 21)
    let refreshed = plain {
      $0.version = 90_000
      $0.deadline -= 3_600_000
    }
    #expect(refreshed.form.size == 33)
    #expect(
      plain {
        $0.staleUntil += 600_000
        $0.version = 9
        $0.deadline -= 5
      }.form.size == 37)
  }

  @Test func `whatever a header says is read as it was written`() throws {
    let numbers: [UInt64] = [1, 9, 1 << 32 - 1, 1 << 32, 1 << 48 - 1, 1 << 48, 1 << 60]
    let times: [Int64] = [
      .min, -1, 0, 1, 1 << 32, 1 << 48 - 1, 1 << 48, 1_790_000_000_000, 1_790_086_400_000, .max - 1,
      .max,
    ]
    var random = SeededRNG(seed: TestSettings.seed)
    for round in 0..<20_000 {
      let isPinned = random.chance(percent: 20)
      let expires = times.randomElement(using: &random)!
      let staleUntil = max(expires, times.randomElement(using: &random)!)
      var flags = EntryHeader.Flags(rawValue: UInt8(random.next(in: 0..<128))).intersection(.known)
      if isPinned { flags.insert(.pinned) } else { flags.remove(.pinned) }
      let header = EntryHeader(
        flags: flags, codec: UInt8(random.next(in: 0..<256)),
        fieldsCount: UInt32(random.chance(percent: 50) ? 0 : random.next(in: 0..<300)),
        written: times.randomElement(using: &random)!, expires: expires, staleUntil: staleUntil,
        deadline: random.chance(percent: 40) ? staleUntil : times.randomElement(using: &random)!,
        sequence: isPinned ? 0 : numbers.randomElement(using: &random)!,
        version: numbers.randomElement(using: &random)!)
      let label: Comment = "seed \(random.seed), round \(round)"
      let record = encoded(header)
      let parsed = EntryHeader(record.span)
      let read = try #require(parsed, "\(label) \(header)")
      #expect(read.flags == header.flags && read.codec == header.codec, label)
      #expect(read.written == header.written && read.expires == header.expires, label)
      #expect(read.staleUntil == header.staleUntil && read.deadline == header.deadline, label)
      #expect(read.sequence == header.sequence && read.version == header.version, label)
      #expect(read.fieldsCount == header.fieldsCount, label)
      #expect(read.size == header.form.size && read.size <= EntryHeader.largestSize, label)
      #expect(isIntact(record), label)
      #expect(!isIntact(record, keyHash: 6), label)
    }
  }

  @Test func `records of any bytes are a header that fits them, or none`() {
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<20_000 {
      let record = random.bytes(random.next(in: 0..<90))
      if let header = EntryHeader(record.span) {
        #expect(header.payloadStart <= record.count && header.staleUntil >= header.expires)
        #expect((header.sequence == 0) == header.flags.contains(.pinned) || header.version == 0)
        _ = EntryFields(record.span.extracting(header.fieldsRange))
        _ = header.idle(in: record.span)
        _ = header.belongs(to: [1].span, in: record.span)
      }
      var reader = FieldReader(record.span)
      while reader.next() != nil {}
      _ = QueueRecord(record.span, record.span)
      for value in [[], record, [1, 2, 3, 4]] {
        for indexed in expiryRecord(record, value).map(Array.init) ?? [] { _ = indexed.recordKey }
      }
      _ = IndexKey.tagged(record)
      _ = StoreFormat(record.span)
    }
  }

  @Test func `fields of any length are read as they were written`() throws {
    for count in [0, 1, 254, 255, 256, 70_000] {
      var fields = EntryFields()
      fields[.metadata] = [UInt8](repeating: 1, count: count)
      fields.tags = [[7], [], [UInt8](repeating: 2, count: count)]
      fields.idle = IdleInterval(milliseconds: 5)
      let bytes = fields.encoded()
      #expect(self.fields(bytes) == fields)
      #expect(self.fields(Array(bytes.dropLast())) == nil)
    }
  }

  @Test func `positions in keys have the order of the numbers, and their shortest form`() throws {
    var numbers: [UInt64] = [0, 1, 31, 32]
    for bits in 6...60 { numbers += [1 << bits - 1, 1 << bits, 1 << bits + 1] }
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<2000 { numbers.append(random.next() >> UInt64(random.next(in: 3..<64))) }
    let id = NamespaceID(rawValue: 3)
    let sorted = numbers.sorted()
    let keys = sorted.map { IndexKey.queue($0, in: id) }
    for (number, key) in zip(sorted, keys) {
      #expect(key.count == 4 + QueuePosition.size(of: number), "seed \(random.seed)")
      let read = try #require(position(key, at: 4))
      #expect(read.position == number && read.end == key.count)
      #expect(key.lexicographicallyPrecedes(IndexKey.queue(.max, in: id)))
    }
    for (left, right) in zip(keys, keys.dropFirst()) {
      #expect(left == right || left.lexicographicallyPrecedes(right), "seed \(random.seed)")
    }
    #expect(QueuePosition.size(of: 2_000_000) == 3)
    #expect(position([0x20, 5], at: 0) == nil, "not the shortest form")
  }

  @Test func `a flip of any byte of an index record leads to another entry or to none`() throws {
    let entry = StoredKey.entry(Array("key".utf8).span, in: NamespaceID(rawValue: 3))
    for position: UInt64 in [0, 1, 40, 1 << 40] {
      let key = IndexKey.deadline(1_790_000_000_000, position: position, entry: entry)
      let value = position == 0 ? [] : [UInt8](littleEndian: ExpiryBlock.bit(of: position))
      let record = try #require(expiryRecord(key, value).flatMap { Array($0).first })
      #expect(record.deadline == 1_790_000_000_000 && record.position == position)
      #expect(record.recordKey == key)
      for place in 0..<key.count + value.count {
        let damaged = with(key + value) { $0[place] ^= 0x41 }
        let other = expiryRecord(Array(damaged[..<key.count]), Array(damaged[key.count...]))
        let found = other.map { $0.map { "\($0.recordKey) \($0.position)" } }
        #expect(found != ["\(key) \(position)"])
      }
    }
  }

  @Test func `a record of the expiry index has the positions put into it, in order`() throws {
    let id = NamespaceID(rawValue: 3)
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<200 {
      let first = (random.next() >> UInt64(random.next(in: 4..<60))) & ~31
      var pending = PendingDeadlines()
      var expected: Set<UInt64> = []
      let block = ExpiryBlock(7, position: first, in: id)
      for _ in 0..<40 {
        let position = max(1, first + random.next() % 32)
        let isIndexed = random.next() % 3 > 0
        let other = pending.set(position, of: block, to: isIndexed)
        #expect(other == nil)
        if isIndexed { expected.insert(position) } else { expected.remove(position) }
      }
      let changes = pending.takeAll()
      let change = try #require(changes.first)
      #expect(change.block == block && changes.count == 1)
      let value = [UInt8](littleEndian: change.applied(to: 0))
      let key = IndexKey.deadline(7, position: max(1, first), entry: id.prefix)
      let read = expiryRecord(key, value).map { $0.map(\.position) } ?? []
      #expect(read == expected.sorted(), "seed \(random.seed)")
    }
    let last = QueuePosition.limit - 1
    let key = IndexKey.deadline(7, position: last, entry: id.prefix)
    #expect(expiryRecord(key, [0, 0, 0, 0x80]).map { $0.map(\.position) } == [last])
    #expect(expiryRecord(key, [0, 0, 0, 0]) == nil && expiryRecord(key, [1]) == nil)
    let zero = IndexKey.deadline(7, position: 1, entry: id.prefix)
    #expect(expiryRecord(zero, [1, 0, 0, 0]) == nil, "no entry has the position 0")
  }
}

extension IndexedEntry {
  fileprivate var recordKey: [UInt8] {
    IndexKey.deadline(deadline, position: position, entry: position == 0 ? pinned : id.prefix)
  }
}
