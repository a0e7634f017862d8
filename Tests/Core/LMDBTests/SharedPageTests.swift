import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

/// Damage where each page itself is valid: two records refer to the same page, or one record refers to a free page. LMDB would
/// free the shared page twice, and a later commit would end the process.
extension `Writing over damage` {
  /// The file offset of each record on the path from the root to a key of the second database.
  private func path(to key: Int) throws -> [Int] {
    let data = try Data(contentsOf: file)
    var name = Array("second".utf8)
    var page = word(data, newestMeta(data) + 128)
    var path: [Int] = []
    while true {
      let start = page * Self.pageSize
      let isLeaf = word(data, start + 10, 2) == 2
      var found = start + word(data, start + 16, 2)
      for index in 1..<max((word(data, start + 12, 2) - 16) / 2, 1) {
        let node = start + word(data, start + 16 + 2 * index, 2)
        let bytes = data[node + 8..<node + 8 + word(data, node + 6, 2)]
        if !name.lexicographicallyPrecedes(bytes) { found = node }
      }
      let value = found + 8 + word(data, found + 6, 2)
      if isLeaf, name.count == 8 { return path + [found] }
      if isLeaf {
        name = Fixture.bytes(key)
        page = word(data, value + 40)
      } else {
        if name.count == 8 { path.append(found) }
        page = word(data, found, 6)
      }
    }
  }

  private func bytes(at offset: Int, _ count: Int) throws -> Data {
    try Data(contentsOf: file)[offset..<offset + count]
  }

  private func replaceBytes(at offset: Int, with bytes: Data) throws {
    try change(offset) {
      $0.replaceSubrange($0.startIndex..<$0.startIndex + bytes.count, with: bytes)
    }
  }

  @Test func `a large value whose page count reaches beyond it is not freed`() throws {
    for page in try pages(flags: 4) { try change(page * Self.pageSize) { $0[12] += 1 } }
    #expect(failure { try environment.set(Fixture.bytes(400), [1], in: second) } == .damagedPage)
    #expect(try environment.value(Fixture.bytes(400), in: second)?.count == 9000)
    #expect(try environment.beginRead().damagedPages(databases: environment.databases) != [])
  }

  @Test(arguments: [true, false])
  func `a large value that two records lead to is freed at most once`(inOneWrite: Bool) throws {
    let (one, other) = (try #require(try path(to: 800).last), try #require(try path(to: 1600).last))
    try replaceBytes(at: one + 16, with: bytes(at: other + 16, 8))
    let error = failure {
      if inOneWrite {
        try environment.write { transaction in
          for key in [800, 1600] { try transaction.remove(key, from: second) }
        }
      } else {
        for key in [800, 1600] { try environment.write { _ = try $0.remove(key, from: second) } }
      }
    }
    #expect(error == .damagedPage)
    #expect(writeEverything() > 0)
  }

  @Test func `a page that became free since the free lists were read is not written`() throws {
    let key = Fixture.bytes(3001)
    try environment.set(key, [1], in: second)
    let references = try path(to: 3001)
    let former = try bytes(at: references[references.count - 2], 6)
    try environment.set(key, [2], in: second)
    let now = try path(to: 3001)
    #expect(try bytes(at: now[now.count - 2], 6) != former)
    try replaceBytes(at: now[now.count - 2], with: former)
    #expect(failure { try environment.set(key, [3], in: second) } == .damagedPage)
    #expect(writeEverything() > 0)
  }

  /// Replaces one page number on a list of free pages by `page`, and keeps the list sorted.
  private func putOnFreeList(_ page: Int) throws {
    let data = try Data(contentsOf: file)
    let root = word(data, newestMeta(data) + 80) * Self.pageSize
    try #require(word(data, root + 10, 2) == 2)
    for index in 0..<(word(data, root + 12, 2) - 16) / 2 {
      let node = root + word(data, root + 16 + 2 * index, 2)
      // LMDB stores a long list in separate pages. The node then has only the number of the first of these pages.
      let isLong = word(data, node + 4, 2) == 1
      let list = isLong ? word(data, node + 16) * Self.pageSize + 16 : node + 16
      let count = word(data, list)
      guard count > 1 else { continue }
      var free = (0..<count).map { word(data, list + 8 + 8 * $0) }
      free[count / 2] = page
      let bytes = free.sorted(by: >).flatMap { page in
        (0..<8).map { UInt8(truncatingIfNeeded: page >> (8 * $0)) }
      }
      return try replaceBytes(at: list + 8, with: Data(bytes))
    }
    Issue.record("no list of free pages")
  }

  enum PageInUse: CaseIterable { case leafThatWasRead, rootOfDatabases }

  @Test(arguments: PageInUse.allCases)
  func `a page of the write's path on a list of free pages is not freed`(page: PageInUse) throws {
    self.environment.close()
    let references = try path(to: 3001)
    let data = try Data(contentsOf: file)
    let leaf = word(data, references[references.count - 2], 6)
    let number = page == .leafThatWasRead ? leaf : word(data, newestMeta(data) + 128)
    try putOnFreeList(number)
    let environment = try Fixture.open(directory.store)
    let second = environment.databases[0]
    let error = failure {
      try environment.write { transaction in
        // The free lists are checked only before the first change, so this read before the change succeeds.
        #expect(try transaction.locate(Fixture.bytes(3001).span, in: second)?.count == 100)
        try transaction.put([1].span, for: Fixture.bytes(3001).span, in: second)
      }
    }
    #expect(error == .damagedPage)
    #expect(environment.damage?.page == UInt64(number))
    #expect(environment.damage?.reason == "it is in use and on a list of free pages")
  }

  /// Pages that are not on the path from the root to the written key.
  enum PageElsewhere: CaseIterable { case leaf, branch, valueHead, valueInside }

  private func number(of page: PageElsewhere) throws -> Int {
    let (data, references) = (try Data(contentsOf: file), try path(to: 400))
    let leaf = references.count - 1
    try #require(word(data, references[leaf] + 4, 1) == 1)
    let head = word(data, references[leaf] + 16)
    return switch page {
    case .leaf: word(data, references[leaf - 1], 6)
    case .branch: word(data, references[0], 6)
    case .valueHead: head
    case .valueInside: head + 1
    }
  }

  @Test(arguments: PageElsewhere.allCases)
  func `a page elsewhere on a list of free pages is not written over`(page: PageElsewhere) throws {
    self.environment.close()
    let number = try number(of: page)
    try putOnFreeList(number)
    let before = try Data(contentsOf: file)
    let environment = try Fixture.open(directory.store)
    let second = environment.databases[0]
    for key in 5990..<6010 {
      #expect(failure { try environment.set(Fixture.bytes(key), [1], in: second) } == .damagedPage)
    }
    #expect(environment.damage?.page == UInt64(number))
    #expect(environment.damage?.reason == "it is in use and on a list of free pages")
    #expect(try environment.value(Fixture.bytes(400), in: second)?.count == 9000)
    environment.close()
    #expect(try Data(contentsOf: file) == before)
  }

  @Test func `pages that are freed and used again are no damage`() throws {
    var random = SeededRNG(seed: TestSettings.seed)
    for round in 0..<600 {
      try environment.write { transaction in
        for _ in 0..<random.next(in: 1..<20) {
          let key = Fixture.bytes(random.next(in: 0..<6000))
          if random.chance(percent: 40) {
            try transaction.remove(key.span, from: second)
          } else {
            // Two puts for one key within one transaction: the second put frees pages that this transaction itself has taken.
            for size in [random.next(in: 0..<30_000), random.next(in: 0..<9000)] {
              try transaction.put(
                Fixture.filling(round, count: size).span, for: key.span, in: second)
            }
          }
        }
      }
      if round % 100 == 0 {
        #expect(try environment.beginRead().damagedPages(databases: environment.databases) == [])
      }
    }
    #expect(environment.damage == nil)
    #expect(try environment.beginRead().damagedPages(databases: environment.databases) == [])
  }

  @Test(arguments: [true, false])
  func `a scan returns no record that a search by key does not find`(forward: Bool) throws {
    // Puts larger keys into branch pages. A search for the first key of a leaf then reads the previous leaf and finds nothing.
    for key in stride(from: 1, to: 6000, by: 700) {
      let references = try path(to: key)
      let reference = references[references.count - 2]
      // The first reference of a branch page has no key, so there is no key to replace.
      guard try bytes(at: reference + 6, 2).elementsEqual([8, 0]) else { continue }
      try replaceBytes(at: reference + 8, with: Data(Fixture.bytes(key)))
    }
    let read = try environment.beginRead()
    for start in stride(from: 0, to: 6000, by: 500) {
      var cursor = try read.cursor(in: second)
      var isAfterSeek = true
      while let key = scanned(&cursor, from: isAfterSeek ? start : nil, forward: forward) {
        isAfterSeek = false
        #expect(try read.copy(key, in: second) != nil, "key \(key)")
      }
    }
  }

  /// The key of the first record at or after `start`. Without `start`, the next key of the scan. Nil at the end and at damage.
  private func scanned(_ cursor: inout Cursor, from start: Int?, forward: Bool) -> [UInt8]? {
    do {
      if let start { return try cursor.seek(Fixture.bytes(start).span)?.key.array }
      return try (forward ? cursor.next() : cursor.previous())?.key.array
    } catch { return nil }
  }
}
