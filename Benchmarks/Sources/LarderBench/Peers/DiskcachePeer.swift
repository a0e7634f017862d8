import Foundation
import Synchronization

extension PeerKind {
  static let diskcache = PeerKind(
    id: "diskcache", name: "python-diskcache",
    usage: "in Python, which times itself; one transaction for a batch",
    promise: [
      .durable: "synchronous = FULL: each commit is on the disk",
      .unsynced: "synchronous = NORMAL: losing power loses the newest commits and damages nothing",
    ],
    largestCount: 20_000, isShared: false,
    missing: {
      DiskcachePeer.python == nil ? "no python3 with the package diskcache was found" : nil
    },
    open: { site in try DiskcachePeer(site) })
}

/// A Python program that reads commands, each on its own line, and reports the time of each command.
final class DiskcachePeer: Peer {
  private let process: ChildProcess
  private let lock = Mutex(())
  private let hasSession = Latch()

  var server: Int32? { process.id }

  /// A Python interpreter with the package: from the script that installs packages for the benchmark, or from the system.
  static let python: String? = {
    let own = FileManager.default.currentDirectoryPath + "/.build/python/bin/python3"
    return ([own] + [Programs.path(of: "python3")].compactMap { $0 }).first { program in
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["-c", "import diskcache"]
      process.standardError = FileHandle.nullDevice
      do { try process.run() } catch { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }()

  init(_ site: Site) throws {
    guard let python = Self.python,
      let script = Bundle.module.path(forResource: "diskcache", ofType: "py")
    else { throw Failure("no program for diskcache") }
    try FileManager.default.createDirectory(
      atPath: site.directory, withIntermediateDirectories: true)
    let values = site.directory + "/values.bin"
    if !FileManager.default.fileExists(atPath: values) {
      try Data(site.data.values.joined()).write(to: URL(fileURLWithPath: values))
    }
    process = try ChildProcess(
      python,
      [
        script, site.directory, String(site.data.valueSize),
        site.level == .durable ? "FULL" : "NORMAL",
      ])
    _ = try process.receive()
  }

  func session() throws -> any Session {
    if hasSession.isSet { throw Unsupported("runs in one Python process") }
    hasSession.set()
    return DiskcacheSession(peer: self)
  }

  /// Sends a command. The answer has the nanoseconds, the number of values, and the sum of the touched bytes.
  fileprivate func call(_ command: String, _ order: Order = []) throws -> (Double, Tally) {
    try lock.withLock { _ in
      try process.send(command + " " + order.map(String.init).joined(separator: ","))
      let answer = try process.receive().split(separator: " ").compactMap { Double($0) }
      guard answer.count == 3 else { throw Failure("diskcache failed") }
      return (answer[0], Tally(found: Int(answer[1]), sum: UInt64(answer[2])))
    }
  }

  func scan() throws -> Tally { try call("scan").1 }
  func clear() throws { _ = try call("clear") }
  func limit() throws { _ = try call("limit") }
  func close() { process.stop() }
}

private final class DiskcacheSession: Session {
  private let peer: DiskcachePeer
  private(set) var ownTime: Double?

  init(peer: DiskcachePeer) { self.peer = peer }

  func read(_ order: Order) throws -> Tally {
    let (time, tally) = try peer.call("read", order)
    ownTime = time
    return tally
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    // This store removes ten expired entries with each write, so a workload cannot prepare many expired entries.
    if lifetime == .over { throw Unsupported("removes ten expired entries with each write") }
    ownTime = try peer.call("write", order).0
  }
}
