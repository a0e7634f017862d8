import LarderPeer
import TestSupport
import Testing

@testable import LMDB

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads pages of random bytes. Every read must return a value within the pages or no value, or throw an error about damage.
@Suite struct `Pages of any bytes` {
  private static let pageSize = 4096
  private static let pages = 24

  /// Pages between two protected pages, so a read before the first page or after the last page kills the test process.
  @safe private final class Fence {
    let start: UnsafeMutableRawPointer
    private let all: UnsafeMutableRawPointer
    private static let length = (`Pages of any bytes`.pages + 2) * pageSize

    init() throws {
      let mapped = unsafe mmap(nil, Self.length, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
      unsafe all = try unsafe #require(mapped)
      unsafe start = unsafe all + pageSize
      unsafe #expect(mprotect(start, Self.length - 2 * pageSize, PROT_READ | PROT_WRITE) == 0)
    }

    deinit { unsafe munmap(all, Self.length) }

    func store(_ bytes: [UInt8], at offset: Int) {
      for (index, byte) in bytes.enumerated() {
        unsafe start.storeBytes(of: byte, toByteOffset: offset + index, as: UInt8.self)
      }
    }

    func flip(_ offset: Int, _ mask: UInt8) {
      let byte = unsafe start.load(fromByteOffset: offset, as: UInt8.self)
      unsafe start.storeBytes(of: byte ^ mask, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// A page with a valid header and with records inside the page. The records may be in any order, and some bytes may be wrong.
  private func page(_ number: Int, _ random: inout SeededRNG) -> [UInt8] {
    var bytes = random.bytes(Self.pageSize)
    func put(_ value: Int, _ count: Int, at offset: Int) {
      for index in 0..<count where offset + index < bytes.count {
        bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
      }
    }
    put(number, 8, at: 0)
    put([1, 1, 2, 2, 2, 4].randomElement(using: &random)!, 4, at: 8)
    bytes.swapAt(8, 10)
    let count = random.next(in: 0..<40)
    var upper = Self.pageSize
    var offsets: [Int] = []
    for index in 0..<count {
      let (key, value) = (random.next(in: 0..<30), random.next(in: 0..<60))
      upper -= (8 + key + value + 1) & ~1
      guard upper > 16 + 2 * count else { break }
      put(random.chance(percent: 70) ? value : random.next(in: 0..<Self.pages), 4, at: upper)
      put(random.chance(percent: 80) ? 0 : random.next(in: 0..<4), 2, at: upper + 4)
      put(key, 2, at: upper + 6)
      for place in 0..<key { bytes[upper + 8 + place] = UInt8(truncatingIfNeeded: index * 6) }
      offsets.append(upper)
    }
    for (index, offset) in offsets.enumerated() { put(offset, 2, at: 16 + 2 * index) }
    put(16 + 2 * offsets.count, 2, at: 12)
    put(offsets.last ?? Self.pageSize, 2, at: 14)
    for _ in 0..<random.next(in: 0..<4) {
      bytes[random.next(in: 0..<(random.chance(percent: 50) ? 64 : Self.pageSize))] =
        UInt8(truncatingIfNeeded: random.next())
    }
    return bytes
  }

  @Test func `no read leaves the pages, and every walk ends`() throws {
    var random = SeededRNG()
    let fence = try Fence()
    for _ in 0..<120 * TestSettings.trials {
      for number in 2..<Self.pages {
        fence.store(
          random.chance(percent: 15) ? random.bytes(Self.pageSize) : page(number, &random),
          at: number * Self.pageSize)
      }
      let table = unsafe PageTable(
        start: UnsafeRawPointer(fence.start), end: UInt64(Self.pages), shift: 12)
      for _ in 0..<20 {
        try walk(table, &random)
        fence.flip(
          random.next(in: 2 * Self.pageSize..<Self.pages * Self.pageSize),
          1 << UInt8(random.next(in: 0..<8)))
      }
    }
  }

  private func walk(_ table: PageTable, _ random: inout SeededRNG) throws {
    var tree = Tree.empty
    tree.depth = random.next(in: 1..<5)
    tree.root = UInt64(random.next(in: 0..<Self.pages + 2))
    tree.leafPages = UInt64(Self.pages)
    tree.branchPages = UInt64(Self.pages)
    let key = random.bytes(random.next(in: 1..<40))
    unsafe key.withUnsafeBytes { bytes in
      let found = unsafe table.lookUp(SearchKey(bytes.baseAddress!, count: bytes.count), in: tree)
      if let start = unsafe found.start { unsafe touch(start, found.count) }
    }
    unsafe compareRuns(tree, table, key)
    for numberKeys in [false, true] {
      walkCursor(TreeCursor(tree, in: table, numberKeys: numberKeys), key, &random)
      var walk = TreeWalk(in: table, numberKeys: numberKeys, visited: PageSet(upTo: Self.pages))
      walk.run(tree) { record in
        unsafe touch(record.key, record.keyCount)
        unsafe touch(record.value, record.valueCount)
      }
      for number in 0..<UInt64(Self.pages + 1) {
        for isLeaf in [false, true] {
          let reference = PageReference(page: number, place: 0, low: nil, high: nil)
          try? PageCheck(table: table, numberKeys: numberKeys).check(reference, isLeaf: isLeaf)
        }
      }
    }
    let free = with(tree) { $0.flags = Tree.numberKeys }
    var lists = FreeListCheck(
      pages: SnapshotPages(
        id: .max, table: table, main: tree, free: free, lastPage: UInt64(Self.pages) - 1))
    try? lists.run()
  }

  private func walkCursor(
    _ cursor: consuming TreeCursor, _ key: [UInt8], _ random: inout SeededRNG
  ) {
    // A walk must stop at damage or at the last record. The pages have fewer than 100,000 records, so a longer walk is endless.
    for _ in 0..<4 {
      do throws(LMDBError) {
        var record: TreeCursor.Record?
        if random.chance(percent: 50) {
          record = try cursor.first()
        } else {
          record = try unsafe key.withUnsafeBufferPointer { (bytes) throws(LMDBError) in
            try unsafe cursor.seek(
              SearchKey(UnsafeRawPointer(bytes.baseAddress!), count: bytes.count))
          }
        }
        let forward = random.chance(percent: 60)
        var moves = 0
        while let found = record {
          unsafe touch(found.key, found.keyCount)
          unsafe touch(found.value, found.valueCount)
          moves += 1
          #expect(moves < 100_000, "a walk without an end")
          if moves >= 100_000 { return }
          record = try forward ? cursor.next() : cursor.previous()
        }
      } catch { #expect(error == .damagedPage) }
    }
  }

  /// Expects that `RecordRuns` returns the same records as a cursor, and finds damage only if the cursor finds damage, too.
  @unsafe private func compareRuns(_ tree: Tree, _ table: PageTable, _ key: [UInt8]) {
    var expected: [[UInt8]] = []
    var isDamaged = false
    var cursor = TreeCursor(tree, in: table, numberKeys: false)
    do throws(LMDBError) {
      var record = try unsafe key.withUnsafeBufferPointer { (bytes) throws(LMDBError) in
        try unsafe cursor.seek(SearchKey(UnsafeRawPointer(bytes.baseAddress!), count: bytes.count))
      }
      while let found = record {
        expected.append(found.keyBytes.array + [0] + found.valueBytes.array)
        record = try cursor.next()
      }
    } catch { isDamaged = true }
    var records: [[UInt8]] = []
    do throws(LMDBError) {
      var runs = try unsafe RecordRuns(tree, in: table, from: key.span)
      while runs.count > 0 {
        for index in 0..<runs.count {
          records.append(runs.key(index).array + [0] + runs.value(index).array)
        }
        try runs.next()
      }
      #expect(!isDamaged)
    } catch { #expect(isDamaged) }
    #expect(records == expected)
  }

  @unsafe private func touch(_ start: UnsafeRawPointer, _ count: Int) {
    guard count > 0 else { return }
    let sum =
      unsafe start.load(as: UInt8.self) &+ start.load(fromByteOffset: count - 1, as: UInt8.self)
    withExtendedLifetime(sum) {}
  }

  @Test func `two equal records on top of a whole page are found`() {
    let tiling = Tiling()
    tiling.begin(from: 0, to: 32)
    for (start, size) in [(0, 16), (16, 16), (8, 8), (8, 8)] { tiling.add(start, size: size) }
    #expect(!tiling.isWhole)
  }
}
