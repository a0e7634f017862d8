import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct Fairness {
  let directory = TemporaryDirectory()

  /// A wait is the number of commits by other processes between the request for a write and this write, which hardly depends on
  /// the machine's speed. A process that the system suspends counts too many commits, so the test allows two high numbers.
  @Test(arguments: [3, 5])
  func `each of several processes writes after about one write of each other`(count: Int) throws {
    let peers = try (0..<count).map { _ in
      try PeerProcess("queue", directory.store, ["60"], saying: "open")
    }
    for peer in peers { try peer.tell("go") }
    for peer in peers {
      let waits = try #require(peer.line()).split(separator: " ").compactMap { Int($0) }.sorted()
      #expect(waits.count == 60)
      #expect(waits[30] <= count, "\(waits)")
      #expect(waits[57] <= 2 * count, "\(waits)")
    }
    #expect(try Fixture.open(directory.store).value(Fixture.bytes(0)) == Fixture.bytes(60 * count))
  }

  @Test func `a stopped process at the head of the queue does not block the others`() throws {
    let busy = try PeerProcess("batches", directory.store, ["30"])
    let waiting = try PeerProcess("batches", directory.store, ["30"])
    #expect(eventually { busy.soFar.count > 2 && waiting.soFar.count > 2 })
    // Stops the process just after its write. Most likely the process then waits for the lock, which the other process holds.
    let writes = waiting.soFar.count
    #expect(eventually { waiting.soFar.count > writes })
    usleep(10_000)
    kill(pid_t(waiting.identifier), SIGSTOP)
    defer { kill(pid_t(waiting.identifier), SIGCONT) }
    let environment = try Fixture.open(directory.store, Fixture.options(lockTimeout: .seconds(60)))
    let before = busy.soFar.count
    let isOwner = failure { try environment.set([9], [9]) } == nil
    // If the process was stopped inside its write, the stopped process still holds the lock, so the test proves nothing.
    if isOwner {
      #expect(eventually { busy.soFar.count > before + 3 })
    } else {
      print("skipped: the process was stopped inside its write")
    }
  }

  @Test func `a write waits for its lock timeout; the error names the writing process`() throws {
    let peer = try PeerProcess("batches", directory.store, ["60000"], saying: "open")
    let environment = try Fixture.open(
      directory.store, Fixture.options(lockTimeout: .milliseconds(20)))
    #expect(eventually { failure { try environment.set([1], [1]) } == .busy })
    #expect(environment.details(of: .busy) == "process \(peer.identifier) (LarderPeer)")
    peer.kill()
    try environment.set([1], [1])
  }

  @Test func `threads get the writer lock in the order in which they asked for it`() throws {
    let environment = try Fixture.open(directory.store)
    try inThreads(4) { _ in
      let waits = try environment.queueUp(50, lasting: 500)
      #expect(waits.sorted()[25] <= 4, "\(waits)")
    }
    #expect(try environment.value(Fixture.bytes(0)) == Fixture.bytes(200))
  }

  @Test func `opening one store does not wait for the opening of another`() throws {
    try Fixture.open(directory.store).close()
    let blocker = try PeerProcess("lock", directory.store, ["lock.opening"], saying: "locked")
    let path = directory.path
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
      _ = refusal(path + "/store", Fixture.options(lockTimeout: .seconds(60)))
      ended.signal()
    }
    thread.start()
    usleep(20_000)
    try Fixture.open(path + "/other").set([1], [1])
    #expect(ended.wait(timeout: .now()) == .timedOut)
    try blocker.endInput()
    #expect(ended.wait(timeout: .now() + 120) == .success)
  }

  @Test func `threads that wait for one lock file give up at the same time`() throws {
    let path = directory.path + "/lock"
    let held = try FileLock(opening: path, in: ForkGuard())
    #expect(try held.take())
    let lock = GuardedFileLock(try FileLock(opening: path, in: ForkGuard()))
    let start = ContinuousClock.now
    try inThreads(8) { _ in
      #expect(throws: SystemError.busy) { try lock.withLock(lockTimeout: .seconds(1)) {} }
    }
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `a sync behind a stopped writer gives up before one that waits longer`() throws {
    var options = Fixture.options(lockTimeout: .seconds(2), durability: .checkpointed)
    options.checkpointInterval = .milliseconds(100)
    let environment = try Fixture.open(directory.store, options)
    try environment.set([5], [6])
    let held = try FileLock(opening: directory.store + "/lock.write", in: ForkGuard())
    #expect(try held.take())
    // Gives the checkpoint thread time to begin its wait for the lock, so the `sync` below waits behind that thread.
    usleep(400_000)
    let gaveUp = DispatchSemaphore(value: 0)
    try inThreads(2) { index in
      if index == 0 {
        #expect(failure { try environment.sync() } == .busy)
        gaveUp.signal()
      } else {
        let other = try FileLock(opening: directory.store + "/lock.write", in: ForkGuard())
        #expect(throws: SystemError.busy) { try other.wait(lockTimeout: .seconds(3)) }
        #expect(gaveUp.wait(timeout: .now()) == .success)
      }
    }
    held.release()
    try environment.sync()
  }
}
