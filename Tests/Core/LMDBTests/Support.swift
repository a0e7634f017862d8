import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

extension TemporaryDirectory {
  /// The path of a store that does not exist yet.
  var store: String { path + "/store" }

  /// The files of a store with type, size, permissions, inode and content hash, for a comparison with a later listing.
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

/// Checks `condition` again and again until it holds; false if it does not hold in time.
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

/// Runs `body` in `count` threads at once, waits at most 240 s for all of them, and throws their first error.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let group = DispatchGroup()
  let failure = Failure()
  for index in 0..<count {
    group.enter()
    Thread.detachNewThread {
      do { try body(index) } catch { failure.note(error) }
      group.leave()
    }
  }
  guard group.wait(timeout: .now() + 240) == .success else { throw Failure.TimedOut() }
  if let error = failure.first { throw error }
}

/// The first error that any of several threads met.
final class Failure: @unchecked Sendable {
  struct TimedOut: Error {}
  private let lock = NSLock()
  private var error: (any Error)?

  func note(_ error: any Error) { lock.withLock { self.error = self.error ?? error } }
  var first: (any Error)? { lock.withLock { error } }
}

/// The error of a write that a test takes back.
struct Stop: Error {}

/// The LMDB error that `call` throws; nil if it throws none. Any other error fails the test.
func failure(_ call: () throws -> Void) -> LMDBError? {
  do {
    try call()
    return nil
  } catch let error as LMDBError {
    return error
  } catch {
    Issue.record("an unexpected error: \(error)")
    return nil
  }
}

/// The reason for which the store is refused; nil if it opens.
func refusal(
  _ path: String, _ options: EnvironmentOptions = Fixture.options()
) -> OpenError.Kind? {
  do throws(OpenError) {
    try Fixture.open(path, options).close()
    return nil
  } catch {
    return error.kind
  }
}

/// The random seed. The environment variable `LARDER_SEED` sets it, to repeat a failure.
let seed = Int(TestSettings.seed)
