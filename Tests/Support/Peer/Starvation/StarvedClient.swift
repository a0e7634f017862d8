import Foundation
import Larder
import TestSupport

enum Shortage: String, CaseIterable {
  /// File descriptors. The amount is the number of descriptors that the process may have.
  case descriptors
  /// Threads. The process can create no thread. Swift's tasks then wait for ever, so the client makes no calls that need a task.
  case threads
  /// Address space. The amount is the number of megabytes that the process may add to its present address space.
  case space
  /// Disk space. The amount is the size of the file system in kilobytes.
  case disk
  /// Writable memory. The amount is the size of this memory in megabytes. The Swift runtime ends a process that gets no memory.
  case memory

  /// Limits the resource of this process until the process ends.
  func begin(_ amount: Int) throws {
    switch self {
    case .disk: break
    case .descriptors: try Self.limit(RLIMIT_NOFILE, to: rlim_t(amount))
    case .threads:
      // Root has no limit of threads, so the process becomes another user.
      if geteuid() == 0 {
        guard setgid(65_534) == 0, setuid(65_534) == 0 else { throw POSIXError(.EPERM) }
      }
      try Self.limit(Self.processes, to: 1)
    case .space: try Self.limit(RLIMIT_AS, to: rlim_t(Self.addressSpace + amount << 20))
    case .memory: try Self.limit(RLIMIT_DATA, to: rlim_t(amount << 20))
    }
  }

  static var addressSpace: Int {
    get throws {
      let statm = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return statm.split(separator: " ").first.flatMap { Int($0) }! * Int(getpagesize())
    }
  }

  #if canImport(Glibc)
    typealias Resource = __rlimit_resource
    private static let processes = __RLIMIT_NPROC
  #else
    typealias Resource = Int32
    private static let processes = RLIMIT_NPROC
  #endif

  @discardableResult static func limit(_ resource: Resource, to amount: rlim_t) throws -> rlim_t {
    #if canImport(Glibc)
      let number = Int32(resource.rawValue)
    #else
      let number = resource
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(number, &limit) == 0 else { throw POSIXError(.EINVAL) }
    let former = limit.rlim_cur
    limit.rlim_cur = amount
    guard unsafe setrlimit(number, &limit) == 0 else { throw POSIXError(.EINVAL) }
    return former
  }
}

extension Peer {
  /// `starved-client STORE SHORTAGE AMOUNT LEVEL`: makes all calls of a client of a store. Prints `ack NUMBER` for each write
  /// that returned, `error CODE` for each call that failed, and `end`.
  func actStarved() throws {
    let shortage = value(0) { Shortage(rawValue: $0) }
    try shortage.begin(argument(1))
    let options = Store.Options(
      lockTimeout: .seconds(5), durability: value(2) { Durability(rawValue: $0) })
    guard let opened = attempt({ try Store(at: store, options: options) }) else {
      return Peer.say("end")
    }
    let notes = opened.namespace("notes")
    for number in 0..<60 {
      let value = [UInt8](repeating: UInt8(number), count: number * 1700 % 40_000)
      let attributes = EntryAttributes.with(expires: .after(.hours(1)), tags: ["t\(number % 3)"])
      if attempt({ try notes.set(value, for: number, attributes) }) != nil {
        Peer.say("ack \(number)")
      }
      if let read = attempt({ () throws -> [UInt8]? in try notes.value(for: number) }),
        let read, read != value
      {
        Peer.say("WRONG \(number)")
      }
    }
    _ = attempt { try notes.scan { _, _ in true } }
    _ = attempt { try notes.page(limit: 20) }
    _ = attempt { try opened.statistics() }
    _ = attempt { try opened.namespaces() }
    _ = attempt { try opened.invalidate(tag: "none") }
    _ = attempt { try opened.purge() }
    _ = attempt { try Maintenance(of: opened).runOnce() }
    _ = attempt { try opened.health() }
    _ = attempt { try opened.sync() }
    if let found = attempt({ try opened.verify() }), !found.isSound { Peer.say("WRONG \(found)") }
    _ = attempt { try opened.close() }
    _ = attempt { try Store.compact(at: store) }
    Peer.say("end")
  }

  /// Runs `body`. After an error, prints the error and returns nil. If the error is not a `LarderError`, prints `WRONG`.
  private func attempt<Result>(_ body: () throws -> Result) -> Result? {
    do { return try body() } catch let error as LarderError {
      Peer.say("error \(error.code.rawValue)")
    } catch { Peer.say("WRONG type \(type(of: error)) \(error)") }
    return nil
  }
}
