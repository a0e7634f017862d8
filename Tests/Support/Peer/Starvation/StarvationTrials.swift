import Foundation
import Larder
import TestSupport

/// `starvation-trials DIRECTORY SEED COUNT [SHORTAGE...]` runs clients of a store, and `larder`, in processes that lack a
/// resource. Every call must succeed or throw, each process must end, and the intact store must have every acknowledged write.
struct StarvationTrials {
  let directory: String
  private var random: SeededRNG
  private var runs = 0
  private var shellRuns = 0
  private var failures: [String] = []
  private var refusals = 0
  private var acknowledged = 0
  /// The number of processes that the Swift runtime ended because no memory was left.
  var ended = 0
  static let longestWait: TimeInterval = 60

  init(directory: String, seed: UInt64) {
    self.directory = directory
    random = SeededRNG(seed: seed)
  }

  mutating func run(count: Int, shortages: [Shortage]) throws -> Bool {
    var possible = shortages
    let hasShell = FileManager.default.isExecutableFile(atPath: Self.shell)
    if !hasShell { Peer.say("shell: skipped, there is no \(Self.shell)") }
    for run in 0..<count where !possible.isEmpty {
      let shortage = possible[run % possible.count]
      let store = directory + "/store"
      try prepareDirectory()
      let amount = random.next(in: range(of: shortage))
      let level = Durability.allCases.randomElement(using: &random)!
      let isShell = random.chance(percent: 25) && shortage != .threads
      if shortage == .disk, !mount(amount) {
        Peer.say("disk: skipped, this user may not mount a file system")
        possible.removeAll { $0 == .disk }
        continue
      }
      defer { if shortage == .disk { _ = Process.succeeds(["umount", directory]) } }
      runs += 1
      let what = "\(shortage.rawValue) \(amount) \(level.rawValue)"
      if isShell, hasShell {
        shellRuns += 1
        try runShell(store, shortage, amount, what)
      } else {
        try runClient(store, shortage, amount, level, what)
      }
    }
    for line in failures { Peer.say(line) }
    Peer.say(
      "starvation: \(runs) runs, \(shellRuns) of the shell, \(failures.count) failures; \(acknowledged) writes acknowledged and found, "
        + "\(refusals) calls refused, \(ended) processes ended for want of memory")
    return failures.isEmpty
  }

  private func range(of shortage: Shortage) -> Range<Int> {
    switch shortage {
    case .descriptors: 3..<41
    case .threads: 0..<1
    // With less than 24 MB, the Swift runtime itself may get no memory.
    case .space: 24..<600
    case .disk: 16..<6000
    case .memory: 1..<40
    }
  }

  private func prepareDirectory() throws {
    let manager = FileManager.default
    try? manager.removeItem(atPath: directory)
    try manager.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // The process that can create no thread runs as another user, who must be able to write to this directory.
    if geteuid() == 0 { _ = unsafe chown(directory, 65_534, 65_534) }
  }

  private func mount(_ kilobytes: Int) -> Bool {
    let options = "size=\(kilobytes)k,uid=\(geteuid())"
    return Process.succeeds(["mount", "-t", "tmpfs", "-o", options, "tmpfs", directory])
  }

  private mutating func runClient(
    _ store: String, _ shortage: Shortage, _ amount: Int, _ level: Durability, _ what: String
  ) throws {
    let peer = try PeerProcess(
      "starved-client", store, [shortage.rawValue, "\(amount)", level.rawValue],
      under: ["-i", "SWIFT_BACKTRACE=enable=no"], within: Self.longestWait, errors: .nullDevice)
    var acked: [Int] = []
    var last = ""
    while last != "end", let line = peer.line(), !peer.isHanging {
      last = line
      if line.hasPrefix("ack ") { acked.append(Int(line.dropFirst(4))!) }
      if line.hasPrefix("error ") { refusals += 1 }
      if line.hasPrefix("WRONG") { fail(what, line) }
    }
    if peer.isHanging { fail(what, "hangs") }
    let status = try peer.end()
    if last != "end" || status < 0 {
      if shortage == .memory {
        ended += 1
      } else {
        fail(what, "ended with \(status) after '\(last)'")
      }
    }
    try check(store, acked, what, mayBeFull: shortage == .disk) {
      (store, number) throws(LarderError) in
      let value: [UInt8]? = try store.namespace("notes").value(for: number)
      return value?.count == number * 1700 % 40_000
    }
  }

  mutating func fail(_ what: String, _ how: String) {
    failures.append(
      "FAILED \(what): \(how); repeat: LarderPeer starved-client \(directory)/store \(what)")
  }

  /// Opens the store without a shortage, and looks for the acknowledged writes. If the disk may be full, copies the store first.
  mutating func check(
    _ store: String, _ acked: [Int], _ what: String, mayBeFull: Bool,
    hasEntry: (Store, Int) throws(LarderError) -> Bool
  ) throws {
    let manager = FileManager.default
    guard manager.fileExists(atPath: store + "/data.mdb") else {
      if !acked.isEmpty { fail(what, "the store is gone") }
      return
    }
    var path = store
    if mayBeFull {
      path = directory + ".copy"
      try? manager.removeItem(atPath: path)
      try manager.copyItem(atPath: store, toPath: path)
    }
    do throws(LarderError) {
      let options = with(Store.Options()) { $0.allowsForeignOwner = true }
      let opened = try Store(at: path, options: options)
      let verification = try opened.verify()
      if !verification.isSound { fail(what, "\(verification)") }
      for number in acked where try !hasEntry(opened, number) {
        fail(what, "entry \(number) is lost")
      }
      acknowledged += acked.count
      try opened.close()
    } catch { fail(what, "the store does not open afterwards: \(error)") }
  }

  static let shell = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("larder").path

  /// Lets the shell `larder` make, write and verify a store. The shell must end with an exit code, except if memory is short.
  mutating func runShell(
    _ store: String, _ shortage: Shortage, _ amount: Int, _ what: String
  ) throws {
    let limit =
      switch shortage {
      case .descriptors: "ulimit -n \(amount)"
      // Adds 400 MB for the program itself.
      case .space: "ulimit -v \((amount + 400) << 10)"
      case .memory: "ulimit -d \(amount << 10)"
      case .threads, .disk: "true"
      }
    let commands = (0..<20).map {
      "-e 'set @notes k\($0) \(String(repeating: "v", count: $0 * 400 + 1))'"
    }.joined(separator: " ")
    let line =
      "\(limit); timeout -k 10 60 '\(Self.shell)' '\(store)' --create -k -o plain \(commands)"
      + " -e 'ls @notes' -e verify -e stats -e purge"
    let (status, text) = try Process.output(
      of: ["/bin/sh", "-c", line],
      environment: ["SWIFT_BACKTRACE": "enable=no", "HOME": directory, "PATH": "/usr/bin:/bin"])
    switch status {
    case 124: fail(what, "the shell hangs")
    // The status 137 means that `timeout` had to kill the shell.
    case 137 where shortage != .memory: fail(what, "the shell hangs")
    // The statuses 125 to 127 are no failure: the loader or `timeout` itself lacked descriptors or address space.
    case 128...:
      if shortage == .memory { ended += 1 } else { fail(what, "the shell ended with \(status)") }
    default: break
    }
    let acked = text.split(separator: "\n").filter { $0.hasPrefix("set\tnotes\tk") }
      .compactMap { Int($0.dropFirst(11)) }
    try check(store, acked, what, mayBeFull: shortage == .disk) {
      (store, number) throws(LarderError) in
      let value: String? = try store.namespace("notes").value(for: "k\(number)")
      return value?.utf8.count == number * 400 + 1
    }
  }
}

extension Peer {
  func starvationTrials() throws {
    let shortages = arguments.dropFirst(2).compactMap { Shortage(rawValue: $0) }
    var trials = StarvationTrials(directory: store, seed: value(0) { UInt64($0) })
    let isClean = try trials.run(
      count: argument(1), shortages: shortages.isEmpty ? Shortage.allCases : shortages)
    if !isClean { exit(1) }
  }
}
