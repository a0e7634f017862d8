import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

/// Writes that meet damaged pages of an open file. Opening checks some pages, so the tests damage the file after the opening.
@Suite struct `Writing over damage` {
  let directory = TemporaryDirectory()

  static let pageSize = 4096

  let environment: Environment
  var second: Database { environment.databases[0] }
  var file: URL { URL(fileURLWithPath: directory.store + "/data.mdb") }

  /// Makes a store of three levels, with large values and free pages.
  init() throws {
    environment = try Fixture.open(directory.store, Fixture.options(durability: .temporary))
    for start in stride(from: 0, to: 6000, by: 1000) {
      try environment.write { transaction in
        for number in start..<start + 1000 {
          try transaction.put(number, size: number % 400 == 0 ? 9000 : 100, in: second)
        }
      }
    }
    try environment.write { transaction in
      for number in stride(from: 0, to: 6000, by: 7) {
        try transaction.remove(number, from: second)
      }
    }
  }

  func change(_ offset: Int, _ body: (inout Data) -> Void) throws {
    let file = try FileDescriptor(opening: file.path, O_RDWR)
    var data = Data(try file.contents(at: offset, count: Self.pageSize))
    body(&data)
    try file.write(Array(data), at: offset)
  }

  func word(_ data: Data, _ offset: Int, _ count: Int = 8) -> Int {
    (0..<count).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
  }

  /// The file offset of the newest meta page.
  func newestMeta(_ data: Data) -> Int { data.newestMeta * Self.pageSize }

  func pages(flags: Int) throws -> [Int] {
    let data = try Data(contentsOf: file)
    // Omits the root page of the main database. The main database has no other page, and every read needs this page.
    let main = word(data, newestMeta(data) + 128)
    return data.reachable(from: [128]).filter {
      $0 != main && word(data, $0 * Self.pageSize + 10, 2) == flags
    }
  }

  func writeEverything() -> Int {
    var refused = 0
    for number in stride(from: 1, to: 6000, by: 11) {
      let error = failure {
        try environment.write { transaction in
          if number % 2 == 0 {
            try transaction.remove(number, from: second)
          } else {
            try transaction.put(number, size: 300, in: second)
          }
        }
      }
      if error != nil { refused += 1 }
      if let error { #expect(error == .damagedPage) }
    }
    return refused
  }

  @Test(arguments: [(1, 0), (1, 14), (1, 16), (2, 0), (2, 10), (2, 12), (2, 14), (2, 18)])
  func `a damaged page is met before LMDB meets it, and every later write is refused`(
    flags: Int, offset: Int
  ) throws {
    var random = SeededRNG(seed: TestSettings.seed)
    let page = try #require(try pages(flags: flags).randomElement(using: &random))
    try change(page * Self.pageSize) { $0[offset] ^= 0x55 }
    #expect(writeEverything() > 0, "page \(page), seed \(TestSettings.seed)")
    #expect(environment.damage != nil)
    #expect(failure { try environment.set([1], [1]) } == .damagedPage)
    // Reads that do not need the damaged page still work.
    #expect(try environment.value(Fixture.signature) == [1])
    #expect(try environment.beginRead().damagedPages(databases: environment.databases) != [])
  }

  @Test func `a large value whose pages are damaged is not freed`() throws {
    for page in try pages(flags: 4) { try change(page * Self.pageSize) { $0[13] ^= 0x40 } }
    #expect(failure { try environment.set(Fixture.bytes(400), [1], in: second) } == .damagedPage)
  }
}
