import Dispatch
import Foundation
import Larder
import Synchronization

extension Peer {
  /// The time of the machine in tests of leases, which stands still in every peer.
  static let machineTime: Int64 = 1_000_000

  private func cache() throws -> Cache<String> {
    var options = Store.Options()
    options.machineClock = { Self.machineTime }
    return try Store(at: store, options: options).cache(TextCodec(), in: "boards")
  }

  /// Loads a key under a policy: says `loading`, and continues with the next line, the value; `fail` is an error.
  func loadOne() throws {
    let boards = try cache()
    let options = LoadOptions(
      policy: RequestPolicy(rawValue: arguments[1])!, waitsForCommit: true)
    try Self.wait { [arguments] in
      do {
        let result = try await boards.result(for: arguments[0], options: options) {
          Peer.say("loading")
          guard let line = readLine(), line != "fail" else { throw CancellationError() }
          return line
        }
        Peer.say("\(result.source) \(result.value)")
      } catch {
        Peer.say("error")
      }
    }
    waitForEndOfInput()
    try boards.namespace.store.close()
    Peer.say("closed")
  }

  /// Loads so many keys one after the other, and says how many loads it made and how many values it got.
  func loadMany() throws {
    let boards = try cache()
    Peer.say("open")
    waitForInput()
    let loads = Atomic(0)
    let values = Atomic(0)
    let count = argument(0)
    try Self.wait {
      for key in 0..<count {
        let value = try await boards.value(for: "\(key)") {
          loads.add(1, ordering: .relaxed)
          await Task.yield()
          return "of \(key)"
        }
        if value == "of \(key)" { values.add(1, ordering: .relaxed) }
      }
    }
    Peer.say("\(loads.load(ordering: .relaxed)) \(values.load(ordering: .relaxed))")
    try boards.namespace.store.close()
    Peer.say("closed")
  }

  /// Runs a task to its end.
  private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let isDone = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task {
      do { try await body() } catch { failure.withLock { $0 = error } }
      isDone.signal()
    }
    isDone.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
