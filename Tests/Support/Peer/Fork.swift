import Foundation
import LMDB
import LarderSystem

/// Swift does not offer `fork`, so this line declares the C function. A forked child has only the thread that called `fork`.
@_silgen_name("fork") func cFork() -> Int32

extension Peer {
  @discardableResult static func waitForChild(_ process: Int32) -> Int32 {
    var status: Int32 = 0
    precondition(unsafe waitpid(process, &status, 0) == process)
    return status
  }

  /// Ends the process after some seconds, for a child whose calls may wait without end.
  static func end(after seconds: UInt32) {
    // The process has inherited a mask that blocks the signal.
    var alarms = sigset_t()
    unsafe sigemptyset(&alarms)
    unsafe sigaddset(&alarms, SIGALRM)
    unsafe sigprocmask(SIG_UNBLOCK, &alarms, nil)
    alarm(seconds)
  }

  private func inChild(_ child: () throws -> Void) {
    let process = cFork()
    if process == 0 {
      do { try child() } catch { Peer.say("child error \(error)") }
      _exit(0)
    }
    Peer.say("child ended \(Self.waitForChild(process))")
  }

  /// A child tries the calls of the inherited environment and opens the store again. The parent then continues its calls.
  func fork() throws {
    let environment = try Fixture.open(store)
    try environment.set([1], [1])
    _ = try environment.value([1])
    inChild {
      Peer.say("read \(Peer.outcome { _ = try environment.beginRead().id })")
      Peer.say("write \(Peer.outcome { try environment.set([1], [2]) })")
      Peer.say("sync \(Peer.outcome { try environment.sync() })")
      Peer.say("readers \(Peer.outcome { _ = try environment.readerTable.readers() })")
      Peer.say("clear \(Peer.outcome { try environment.readerTable.clearDead() })")
      Peer.say("last \(environment.lastTransaction)")
      environment.close()
      let own = try Fixture.open(store)
      try own.set([2], [2])
      Peer.say("own \(own !== environment) \(try own.value([1]) ?? [])")
      own.close()
    }
    try environment.set([3], [3])
    Peer.say("parent \(try environment.value([1]) ?? []) \(try environment.value([2]) ?? [])")
    waitForEndOfInput()
    try environment.set([4], [4])
    Peer.say("closed \(environment.close())")
  }

  /// A child takes a number of its own, because the child does not inherit the parent's record lock.
  func forkWithNumber() throws {
    let slots = ProcessSlots.shared(in: store)
    inChild {
      let own = ProcessSlots.shared(in: store)
      Peer.say("own \(own != nil && own !== slots)")
    }
    Peer.say("same \(ProcessSlots.shared(in: store) === slots)")
  }

  /// Forks inside a read. The child ends its copy of the read, but LMDB must not reuse the pages that the parent reads.
  func forkInRead() throws {
    let environment = try Fixture.open(store)
    let process = try readForking(environment)
    if process == 0 { _exit(0) }
  }

  private func readForking(_ environment: Environment) throws -> Int32 {
    let read = try environment.beginRead()
    let process = cFork()
    if process == 0 { return 0 }
    Self.waitForChild(process)
    let mine = try environment.readerTable.readers().filter {
      $0.process == Int(getpid()) && $0.transaction != nil
    }
    Peer.say("view \(mine.map(\.transaction) == [read.id])")
    return process
  }

  /// Forks inside a write. The child returns from the write, but only the parent may commit the write.
  func forkInWrite() throws {
    let environment = try Fixture.open(store)
    var process: Int32 = -1
    let result = Peer.outcome {
      try environment.write { transaction in
        try transaction.put([1].span, for: [1].span, in: .main)
        process = cFork()
        if process == 0 {
          try transaction.put([2].span, for: [1].span, in: .main)
        } else {
          Self.waitForChild(process)
        }
      }
    }
    Peer.say(
      process == 0 ? "child \(result)" : "parent \(result) \(try environment.value([1]) ?? [])")
  }

  /// Forks while another thread of the parent is inside a write. The child closes and releases the environment.
  func forkWhileWriting() throws {
    var environment: Environment? = try Fixture.open(
      store, Fixture.options(durability: .checkpointed))
    let writing = environment!
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let result = Peer.outcome {
        try writing.write { transaction in
          try transaction.put([1].span, for: [1].span, in: .main)
          // This thread must not allocate memory during the fork. Otherwise the allocator's lock stays taken in the child.
          begun.signal()
          usleep(100_000)
        }
      }
      Peer.say("parent \(result)")
      ended.signal()
    }
    begun.wait()
    let process = cFork()
    if process == 0 {
      Peer.say("child \(environment!.close())")
      environment = nil
      let other = try Fixture.open(store + "-2")
      try other.set([1], [2])
      Peer.say("child \(try other.value([1]) ?? [])")
      other.close()
      _exit(0)
    }
    ended.wait()
    Peer.say("ended \(Self.waitForChild(process)) \(try writing.value([1]) ?? [])")
  }

  /// A child does not inherit the parent's file limit, and the limit that the child sets does not affect the parent.
  func forkWithLimit() throws {
    let options = Fixture.options(durability: .temporary)
    let environment = try Fixture.open(store, options)
    environment.setFileLimit(argument(0))
    inChild {
      environment.setFileLimit(nil)
      Peer.say("write \(Peer.outcome { try environment.set([1], [2]) })")
      environment.close()
      let own = try Fixture.open(store, options)
      Peer.say("own \(own.fileLimit.map { "\($0)" } ?? "none")")
      own.setFileLimit(argument(0) / 2)
      Peer.say("mapped \(own.info.mapSize)")
      own.close()
    }
    Peer.say("parent \(environment.fileLimit ?? 0) \(environment.info.mapSize)")
    var stored = 0
    let end = Peer.outcome {
      while stored < 10_000 {
        try environment.set(Fixture.bytes(stored), Fixture.filling(stored, count: 4000))
        stored += 1
      }
    }
    Peer.say("\(end) \(environment.fileSize <= argument(0))")
    environment.close()
    environment.setFileLimit(1)
    let anew = try Fixture.open(store, options)
    Peer.say("anew \(anew.fileLimit == nil)")
    try anew.set(Fixture.bytes(stored), Fixture.filling(stored, count: 4000))
    anew.close()
  }
}
