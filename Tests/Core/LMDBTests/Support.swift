import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

extension TemporaryDirectory {
  var store: String { path + "/store" }

  /// The files of a store with type, size, permissions, inode and content hash. A test compares two such listings.
  static func listing(_ directory: String) throws -> [String: String] {
    var listing: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) + ["."] {
      let path = directory + "/" + name
      let facts = try FileManager.default.attributesOfItem(atPath: path)
      let type = facts[.type] as? FileAttributeType
      let hash = type == .typeRegular ? FileManager.default.contents(atPath: path)?.hashValue : nil
      let size = name == "." ? "" : "\(facts[.size]!)"
      listing[name] =
        "\(type?.rawValue ?? "?") \(size) \(facts[.posixPermissions]!) \(facts[.systemFileNumber]!) \(hash ?? 0)"
    }
    return listing
  }
}

func eventually(within limit: Duration = .seconds(120), _ condition: () throws -> Bool) rethrows
  -> Bool
{
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try condition() { return true }
    usleep(500)
  }
  return try condition()
}

/// Options with one checkpoint an hour by default. `boot` is the simulated number of starts of the machine.
func options(
  _ level: DurabilityLevel?, boot: UInt64 = 1, interval: Duration = .seconds(3600)
) -> EnvironmentOptions {
  with(Fixture.options(durability: level)) {
    $0.boot = BootIdentity(7, boot)
    $0.checkpointInterval = interval
  }
}

extension Environment {
  func ownReaders() throws -> [ReaderTable.Reader] {
    try readerTable.readers().filter { $0.process == Int(getpid()) }
  }
}

extension WriteTransaction {
  mutating func put(_ number: Int, size: Int, in database: Database = .main) throws {
    let value = Fixture.filling(number, count: size)
    try put(value.span, for: Fixture.bytes(number).span, in: database)
  }

  @discardableResult
  mutating func remove(_ number: Int, from database: Database = .main) throws -> Bool {
    try remove(Fixture.bytes(number).span, from: database)
  }
}

struct Stop: Error {}

/// The LMDB error that `call` throws, or nil if `call` throws no error. Any other error fails the test.
func failure(_ call: () throws -> Void) -> LMDBError? {
  do { try call() } catch let error as LMDBError { return error } catch {
    Issue.record("an unexpected error: \(error)")
  }
  return nil
}

func openError(_ call: () throws(OpenError) -> Void) -> OpenError? {
  do throws(OpenError) {
    try call()
    return nil
  } catch { return error }
}

func openError(_ path: String, _ options: EnvironmentOptions = Fixture.options()) -> OpenError? {
  openError { () throws(OpenError) in try Fixture.open(path, options).close() }
}

func refusal(_ path: String, _ options: EnvironmentOptions = Fixture.options()) -> OpenError.Kind? {
  openError(path, options)?.kind
}

extension TemporaryDirectory {
  /// File permissions and limits do not restrict root. So if this process runs as root, gives the directory to another user.
  /// Returns the words that, in front of a command, run the command as that other user. Without root, returns no words.
  func giveAway() -> [String] {
    guard geteuid() == 0 else { return [] }
    #expect(Process.succeeds(["chown", "-R", "65534:65534", path]))
    return asOtherUser
  }
}

let asOtherUser = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
let canChangeUser = geteuid() == 0 && Process.succeeds(["setpriv", "--version"])
let canMount = Process.succeeds(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/tmp"])
let seed = Int(TestSettings.seed)
