import Foundation
import LMDB
import Larder
import TestSupport

extension Peer {
  /// Prints how many writes of 200 bytes to random keys a store takes in a second. Arguments: the level, the time in
  /// milliseconds, and the number of tasks that write at the same time; without this number, one thread writes.
  func rate() throws {
    var options = Store.Options()
    options.durability = value(0) { Durability(rawValue: $0) }
    let store = try Store(at: store, options: options)
    let notes = store.namespace("notes")
    let begin = ContinuousClock.now
    let end = begin + .milliseconds(argument(1))
    let tasks = arguments.count > 2 ? argument(2) : 0
    let writes =
      tasks > 0
      ? try Self.wait { try await Self.writeTogether(to: notes, tasks: tasks, until: end) }
      : try Self.write(to: notes, until: end)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    let commits = try store.statistics().file.transaction
    try store.close()
    Peer.say("\(Int(Double(writes) / seconds)) writes a second, \(commits) commits")
  }

  private static let value = [UInt8](repeating: 7, count: 200)

  private static func write(to notes: Store.Namespace, until end: ContinuousClock.Instant) throws
    -> Int
  {
    var random = SeededRNG(seed: 1)
    var writes = 0
    while ContinuousClock.now < end {
      try notes.set(value, for: Int.random(in: 0..<100_000, using: &random))
      writes += 1
    }
    return writes
  }

  private static func writeTogether(
    to notes: Store.Namespace, tasks: Int, until end: ContinuousClock.Instant
  ) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<tasks {
        group.addTask {
          var random = SeededRNG(seed: UInt64(task))
          var writes = 0
          while ContinuousClock.now < end {
            try await notes.set(value, for: Int.random(in: 0..<100_000, using: &random))
            writes += 1
          }
          return writes
        }
      }
      return try await group.reduce(0, +)
    }
  }
}
