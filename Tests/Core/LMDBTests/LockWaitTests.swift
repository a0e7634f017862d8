import Foundation
import LMDB
import LarderPeer
import LarderSystem
import Synchronization
import TestSupport
import Testing

/// How long a call waits for a process that keeps a lock.
@Suite(.timeLimit(.minutes(20))) struct `Waiting for locks` {
  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  @Test func `a sync behind a stopped writer gives up before one that waits half as long again`()
    throws
  {
    var options = Fixture.options(lockTimeout: .seconds(2), durability: .checkpointed)
    options.checkpointInterval = .milliseconds(100)
    let environment = try Fixture.open(directory.store, options)
    try environment.set([5], [6])
    let held = try FileLock(opening: directory.store + "/lock.write", in: ForkGuard())
    #expect(try held.take())
    // By now the thread that makes checkpoints waits for the lock.
    usleep(400_000)
    let hasGivenUp = Atomic(false)
    try inThreads(2) { index in
      if index == 0 {
        #expect(failure { try environment.sync() } == .busy)
        hasGivenUp.store(true, ordering: .relaxed)
      } else {
        let other = try FileLock(opening: directory.store + "/lock.write", in: ForkGuard())
        #expect(throws: SystemError.busy) { try other.wait(lockTimeout: .seconds(3)) }
        let isFirst = hasGivenUp.load(ordering: .relaxed)
        #expect(isFirst)
      }
    }
    held.release()
    try environment.sync()
  }
}
