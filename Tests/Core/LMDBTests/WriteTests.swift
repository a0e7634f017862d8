import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite struct Writing {
  let directory = TemporaryDirectory()
  let environment: Environment
  init() throws { environment = try Fixture.open(directory.store) }

  @Test func `each write that changes something has the next number`() throws {
    let before = environment.lastTransaction
    let id = try environment.write { transaction in
      try transaction.put([1].span, for: [5].span, in: .main)
      return transaction.id
    }
    #expect(id == before + 1)
    #expect(environment.lastTransaction == id)
    #expect(try environment.beginRead().id == id)
    try environment.write { _ in }
    #expect(environment.lastTransaction == id)
  }

  @Test func `a write knows which write of this process made the last commit`() throws {
    let serial = try environment.write { transaction in
      try transaction.put([1].span, for: [5].span, in: .main)
      return transaction.serial
    }
    // Neither a write without changes nor a discarded write makes a commit, so `formerSerial` does not change.
    #expect(try environment.write { $0.formerSerial } == serial)
    #expect(throws: Stop.self) {
      try environment.write { transaction in
        try transaction.put([2].span, for: [5].span, in: .main)
        throw Stop()
      }
    }
    #expect(try environment.write { $0.formerSerial } == serial)
  }

  @Test func `a value of another length than was reserved is a programming error`() async {
    await #expect(processExitsWith: .failure) { [store = (directory.path + "/other") as String] in
      let environment = try Fixture.open(store)
      try environment.write { try $0.put(count: 3, for: [5].span, in: .main) { $0.append(1) } }
    }
  }

  @Test func `a cursor in a write sees what the write stored`() throws {
    let records = environment.databases[0]
    try environment.write { transaction in
      for number in 0..<100 { try transaction.put(number, size: 1, in: records) }
      var count = 0
      do {
        var cursor = try transaction.cursor(in: records)
        while try cursor.next() != nil { count += 1 }
      }
      #expect(count == 100)
      try transaction.remove(99, from: records)
      var cursor = try transaction.cursor(in: records)
      let last = try cursor.last()?.key.array
      #expect(last == Fixture.bytes(98))
    }
  }

  @Test(arguments: [1, 2, 100, 510, 511])
  func `a key of 1 to 511 bytes is kept`(length: Int) throws {
    let key = Fixture.filling(length, count: length)
    try environment.set(key, [1])
    #expect(try environment.value(key) == [1])
    let removed = try environment.write { try $0.remove(key.span, from: .main) }
    #expect(removed)
  }

  @Test func `a key of 0 or over 511 bytes is an error to write and absent to read`() throws {
    for length in [0, 512, 4000] {
      let key = Fixture.filling(1, count: length)
      #expect(failure { try environment.set(key, [1]) } == LMDBError(code: -30_781))
      #expect(try environment.value(key) == nil)
      let located = try environment.write { try $0.locate(key.span, in: .main)?.array }
      #expect(located == nil)
    }
  }

  @Test(.enabled(if: geteuid() == 0 && canMount, "a file system of its own needs root"))
  func `a full disk is named, nothing stored is lost, and freed space is enough to go on`() throws {
    let script = """
      mount -t tmpfs -o size=3m none \(directory.path) && dd if=/dev/zero of=\(directory.path)/weight bs=1k \
      count=500 2>/dev/null
      """
    let peer = try PeerProcess(
      "fill", directory.path + "/full", under: ["unshare", "-m"] + inShell(script),
      saying: "write full")
    #expect([peer.line(), peer.line()] == ["stored true true", "same true"])
    #expect(Process.succeeds(["rm", "/proc/\(peer.identifier)/root\(directory.path)/weight"]))
    try peer.tell("go on")
    #expect(peer.line() == "write done")
  }
}

/// Writes that meet damaged pages. An opening could find the damage and fail, so the tests damage the file of an open store.
@Suite struct `Writing over damage` {
  let directory = TemporaryDirectory()
  static let pageSize = 4096
  let environment: Environment
  var second: Database { environment.databases[0] }
  var file: URL { URL(fileURLWithPath: directory.store + "/data.mdb") }

  /// Makes a store whose trees have three levels of pages. The store also has large values and free pages.
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

  func newestMeta(_ data: Data) -> Int { data.newestMeta * Self.pageSize }

  func pages(flags: Int) throws -> [Int] {
    let data = try Data(contentsOf: file)
    // Every read needs the root page of the main database, so the list omits this page. The main database has no other page.
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
  func `LMDB meets no damaged page; later writes are refused`(flags: Int, offset: Int) throws {
    var random = SeededRNG(seed: TestSettings.seed)
    let page = try #require(try pages(flags: flags).randomElement(using: &random))
    try change(page * Self.pageSize) { $0[offset] ^= 0x55 }
    #expect(writeEverything() > 0, "page \(page), seed \(TestSettings.seed)")
    #expect(environment.damage != nil)
    #expect(failure { try environment.set([1], [1]) } == .damagedPage)
    // Reads that do not need the damaged page succeed.
    #expect(try environment.value(Fixture.signature) == [1])
    #expect(try environment.beginRead().damagedPages(databases: environment.databases) != [])
  }

  @Test func `a large value whose pages are damaged is not freed`() throws {
    for page in try pages(flags: 4) { try change(page * Self.pageSize) { $0[13] ^= 0x40 } }
    #expect(failure { try environment.set(Fixture.bytes(400), [1], in: second) } == .damagedPage)
  }
}
