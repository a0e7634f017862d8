import Foundation
import LMDB
import LarderSystem

extension Peer {
  /// Opens a checkpointed store, writes, and waits until the write is checkpointed.
  func writeStarved() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .checkpointed))
    Peer.say("open")
    for number in 0..<20 { try environment.set(Fixture.bytes(number), [1]) }
    try environment.sync()
    Peer.say("written \(try environment.value(Fixture.bytes(19)) ?? [])")
    Peer.say("closed \(environment.close())")
  }

  /// Writes once at the level `checkpointed` and keeps the store open.
  func writeAndStay() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .checkpointed))
    try environment.set([1], [1])
    _ = Peer.outcome { try environment.write { _ in throw LMDBError.busy } }
    let pins = try environment.readerTable.readers().count { $0.transaction != nil }
    waitForEndOfInput(saying: "written \(pins) \(environment.lastTransaction)")
    environment.close()
  }

  /// Takes all descriptors after the opening at the level `scratch`, and then writes.
  func writeWithoutDescriptors() throws {
    let environment = try Fixture.open(store, Fixture.options(durability: .scratch))
    while let file = FileDescriptor.reading("/dev/null") { _ = file.release() }
    Peer.say("write \(Peer.outcome { try environment.set([1], [1]) })")
    environment.close()
  }

  /// Stores the names of the files behind the three standard descriptors. The parent may have closed these descriptors.
  func recordStandardDescriptors() throws {
    let environment = try Fixture.open(store)
    let targets = try (0...2).map {
      try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    // If a file of the store had the number of the standard error descriptor, this message would damage the file.
    FileHandle.standardError.write(Data("a message".utf8))
    try environment.set([1], Array(targets.joined(separator: "\n").utf8))
    environment.close()
  }

  /// Fills a store in little address space. The argument is the number of megabytes to store.
  func fillInLittleSpace() throws {
    let mapSize = EnvironmentOptions().mapSize
    let environment = try Fixture.open(store, Fixture.options(mapSize: mapSize))
    Peer.say("mapped \(environment.info.mapSize)")
    try environment.store(0..<argument(0), size: 1 << 20)
    Peer.say("filled \(environment.fileSize >> 20 >= argument(0))")
    environment.close()
  }

  /// Reads a store for which the process has no permission to write, and keeps the store open.
  func readWithoutPermission() throws {
    var options = Fixture.options()
    options.create = false
    options.readOnly = true
    options.foreignOwner = true
    let environment = try Fixture.open(store, options)
    Peer.say("read \(try environment.value([1]) ?? [])")
    Peer.say("write \(Peer.outcome { try environment.set([1], [2]) })")
    Peer.say("health \(environment.fileProblem(needsWriting: false).map { "\($0)" } ?? "none")")
    waitForEndOfInput()
    Peer.say("health \(environment.fileProblem(needsWriting: false).map { "\($0)" } ?? "none")")
    try environment.sync()
    Peer.say("again \(try environment.value([1]) ?? [])")
    environment.close()
  }

  /// Makes as many writes of 1 ms as the argument says. Prints for each write how many other writes were made during its wait.
  func queueUp() throws {
    let environment = try Fixture.open(store)
    waitForInput(saying: "open")
    let waits = try environment.queueUp(argument(0), lasting: 1000)
    Peer.say(waits.map(String.init).joined(separator: " "))
    environment.close()
  }

  func holdLock() throws {
    let guardian = ForkGuard()
    let lock = try FileLock(opening: store + "/" + value(0) { $0 }, in: guardian)
    waitForEndOfInput(saying: try lock.take() ? "locked" : "taken")
    lock.release()
  }
}
