import LMDB
import Larder
import LarderSystem
import TestSupport

extension Peer {
  /// Runs tasks that write at the same time, and prints the answers to their writes, while `PowerRecorder` records the calls of
  /// the process. Each task writes one entry after another.
  ///
  /// Arguments: level, number of tasks, number of writes of each task, number of the simulated boot.
  func powerGroup() throws {
    var options = PowerWork.options(boot: argument(3))
    options.durability = value(0) { Durability(rawValue: $0) }
    let store = try Store(at: store, options: options)
    try store.declare(Rules(largestValue: GroupWork.largest), for: GroupWork.namespace)
    Peer.say("open")
    let (tasks, writes) = (argument(1), argument(2))
    try Self.wait { try await GroupWork.write(to: store, tasks: tasks, writes: writes) }
    Peer.say("closing")
    try store.close()
    Peer.say("closed")
  }
}

/// Entries that depend only on the number of their task and the number of the write within this task.
package enum GroupWork {
  package static let namespace = "notes"
  static let largest = 20_000

  package static func key(_ task: Int, _ write: Int) -> String { "\(task) \(write)" }

  package static func value(_ task: Int, _ write: Int) -> [UInt8] {
    let number = task * 1000 + write
    return Fixture.filling(number, count: number % 9 == 0 ? 9000 : number * 37 % 900)
  }

  static func write(to store: Store, tasks: Int, writes: Int) async throws {
    let notes = store.namespace(namespace)
    try await inTasks(tasks) { task in
      for write in 0..<writes {
        // In some rounds, adds to the same group a write that must be refused.
        if write % 5 == task % 5 { try await writeTooMuch(to: notes, key(task, write)) }
        try await notes.set(value(task, write), for: key(task, write))
        Peer.say("ack \(task) \(write)")
        if task == 0, write % 8 == 7 {
          Peer.say("syncing")
          try store.sync()
          Peer.say("synced")
        }
      }
    }
  }

  private static func writeTooMuch(to notes: Store.Namespace, _ key: String) async throws {
    do {
      try await notes.set([UInt8](repeating: 0, count: largest + 1), for: key)
    } catch let error as LarderError where error.code == .overLimit {
      return
    }
    throw LarderError(.failed, "a value that is too large was not refused")
  }
}
