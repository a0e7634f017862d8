import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

private let container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
private let canMakeContainers = Process.succeeds(container + ["true"])

/// Processes in several process id namespaces, as in containers, use one store. In each namespace the program has the id 1.
@Suite(.enabled(if: canMakeContainers, "this system allows no process id namespace"))
struct `Several containers` {
  let directory = TemporaryDirectory()
  var store: String { directory.store }

  private func peer(_ scenario: String) throws -> PeerProcess {
    try PeerProcess(scenario, store, under: container)
  }

  @Test func `a process with the id of another that has the store open is refused in words`()
    throws
  {
    let first = try peer("hold")
    #expect(first.line() == "open")
    #expect(try peer("hold").lines() == ["refused sameProcessID"])
    // The process id of this process is not 1, so its opening is not refused.
    let environment = try Fixture.open(store)
    try environment.set([5], [6])
    environment.close()
    #expect(try first.end() == 0)
    let next = try peer("hold")
    #expect(next.line() == "open")
    #expect(try next.end() == 0)
    #expect(try Fixture.open(store).value([5]) == [6])
  }

  @Test func `what a killed container left is freed when it starts again under the same id`() throws
  {
    // Keeps the store open. Otherwise the next process would begin a new reader table, without the slots of killed processes.
    let environment = try Fixture.open(store, Fixture.options(durability: .checkpointed))
    func slots() throws -> [ReaderTable.Reader] {
      try environment.readerTable.readers().filter { $0.process == 1 }
    }
    let killed = try peer("write-and-stay")
    #expect(killed.line()?.hasPrefix("written") == true)
    killed.kill()
    #expect(killed.lines() == [])
    let left = try slots()
    #expect(!left.isEmpty)
    let again = try peer("write-and-stay")
    #expect(again.line()?.hasPrefix("written") == true)
    let now = try slots()
    #expect(now.count <= left.count)
    for slot in left where slot.transaction != nil { #expect(!now.contains(slot)) }
    #expect(try again.end() == 0)
    #expect(try slots() == [])
  }
}
