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
    // Neither a write without changes nor a discarded write makes a commit, so `formerSerial` stays equal.
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
    await #expect(processExitsWith: .failure) {
      [store = (directory.path + "/other") as String] in
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

  @Test func `a key of no or of more than 511 bytes is an error to write and absent to read`()
    throws
  {
    let badSize = LMDBError(code: -30_781)
    for length in [0, 512, 4000] {
      let key = Fixture.filling(1, count: length)
      #expect(failure { try environment.set(key, [1]) } == badSize)
      #expect(try environment.value(key) == nil)
      let located = try environment.write { try $0.locate(key.span, in: .main)?.array }
      #expect(located == nil)
    }
  }

  @Test(.enabled(if: geteuid() == 0 && canMount, "a file system of its own needs root"))
  func `a full disk is named, nothing stored is lost, and freed space is enough to go on`() throws {
    let script = """
      mount -t tmpfs -o size=3m none \(directory.path) && dd if=/dev/zero of=\(directory.path)/weight bs=1k \
      count=500 2>/dev/null && exec "$0" "$@"
      """
    let peer = try PeerProcess(
      "fill", directory.path + "/full", under: ["unshare", "-m", "sh", "-c", script],
      saying: "write full")
    #expect(peer.line() == "stored true true")
    #expect(peer.line() == "same true")
    #expect(Process.succeeds(["rm", "/proc/\(peer.identifier)/root\(directory.path)/weight"]))
    try peer.tell("go on")
    #expect(peer.line() == "write done")
  }
}
