import Foundation
import LMDB
package import Larder
import LarderSystem
import TestSupport

extension Peer {
  /// Writes numbered batches and prints the outcome of every call, while `PowerRecorder` records the calls of the process. Opens
  /// and closes the store three times or more. After an error, closes the store and opens the store again.
  ///
  /// Arguments: level, number of writes, seed, number of the simulated boot, and the average number of writes before a sync.
  func power() throws {
    var random = SeededRNG(seed: value(2) { UInt64($0) })
    var options = PowerWork.options(boot: argument(3))
    options.durability = value(0) { Durability(rawValue: $0) }
    let rarity = argument(4)
    var left = argument(1)
    // Another process may take long to notice a failed sync. Until then the store does not open, so the loop tries many times.
    for session in 0..<400 where left > 0 || session < 2 {
      do {
        Peer.say("opening")
        let store = try Store(at: store, options: options)
        Peer.say("open \(session)")
        Peer.say("found \(try PowerWork.number(in: store))")
        var isWriting = false
        do {
          for _ in 0..<max(1, argument(1) / 3) where left > 0 {
            Peer.say("begin")
            isWriting = true
            let number = try PowerWork.write(to: store)
            isWriting = false
            left -= 1
            Peer.say("ack \(number) \(SystemTime.monotonicMilliseconds)")
            if Int.random(in: 0..<rarity, using: &random) == 0 {
              try store.sync()
              Peer.say("sync \(number)")
            }
            // Sometimes pauses, so that a checkpoint can be made.
            if Int.random(in: 0..<min(rarity, 8), using: &random) == 0 {
              usleep(useconds_t.random(in: 0..<8000, using: &random))
            }
          }
        } catch { Peer.say("\(isWriting ? "dropped" : "failed") \(error)") }
        let last = Result { try PowerWork.number(in: store) }
        if case .failure(let error) = last { Peer.say("failed \(error)") }
        // A close also saves counts of reads, so the close may write to the store. The test must know when the close begins.
        Peer.say("closing")
        do {
          try store.close()
          Peer.say("closed \((try? last.get()) ?? 0)")
        } catch { Peer.say("unsaved \(error)") }
      } catch {
        Peer.say("refused \(error)")
        usleep(2000)
      }
    }
    Peer.say(left == 0 ? "end" : "gave up")
  }
}

/// Batches whose changes depend only on their numbers, so the last number determines the contents of a store.
package enum PowerWork {
  package static func options(boot: Int) -> Store.Options {
    with(Store.Options(checkpointInterval: .milliseconds(5))) {
      $0.hooks.boot = BootIdentity(1, UInt64(boot))
    }
  }

  package struct Place: Hashable, Sendable {
    package var namespace: String
    package var key: Int
  }

  package enum Change: Sendable {
    case set(Place, filling: Int, count: Int)
    case remove(Place)
    case clear(String)
  }

  package static let namespaces = ["a", "b"]

  /// The changes of a batch: small values, values that fill most of a page, values in separate pages, removals, clears.
  package static func changes(_ number: Int) -> [Change] {
    var random = SeededRNG(seed: UInt64(number))
    if number % 41 == 0 { return [.clear("b")] }
    return (0..<Int.random(in: 1...6, using: &random)).map { index in
      let place = Place(
        namespace: namespaces.randomElement(using: &random)!, key: random.next(in: 0..<40))
      let count =
        switch Int.random(in: 0..<100, using: &random) {
        case ..<18: -1
        case ..<70: Int.random(in: 0..<200, using: &random)
        case ..<90: Int.random(in: 200..<3500, using: &random)
        case ..<98: Int.random(in: 3500..<20_000, using: &random)
        default: Int.random(in: 20_000..<100_000, using: &random)
        }
      return count < 0 ? .remove(place) : .set(place, filling: number * 10 + index, count: count)
    }
  }

  @discardableResult
  package static func write(to store: Store) throws -> Int {
    let count = store.namespace("count")
    return try store.write { batch in
      let last = try batch.value(for: "n", in: count).flatMap {
        Int(String(decoding: $0, as: UTF8.self))
      }
      let number = (last ?? 0) + 1
      for change in changes(number) {
        switch change {
        case .set(let place, let filling, let size):
          try batch.set(
            Fixture.filling(filling, count: size), for: place.key,
            in: store.namespace(place.namespace),
            expires: filling % 2 == 0 ? .after(.hours(1 + filling % 500)) : .never)
        case .remove(let place): try batch.remove(place.key, from: store.namespace(place.namespace))
        case .clear(let name): _ = try batch.clear(store.namespace(name))
        }
      }
      try batch.set("\(number)", for: "n", in: count)
      return number
    }
  }

  /// The number of the last batch that the store has, or 0 if the store has no batch.
  package static func number(in store: Store) throws -> Int {
    let text: String? = try store.namespace("count").value(for: "n")
    return text.flatMap { Int($0) } ?? 0
  }

  /// Computes the contents of the store after each batch. Keeps the results for later calls.
  package struct Model {
    private var states: [[Place: (filling: Int, count: Int)]] = [[:]]
    package init() {}

    package mutating func state(after number: Int) -> [Place: (filling: Int, count: Int)] {
      while states.count <= number {
        var state = states[states.count - 1]
        for change in changes(states.count) {
          switch change {
          case .set(let place, let filling, let count): state[place] = (filling, count)
          case .remove(let place): state[place] = nil
          case .clear(let name): state = state.filter { $0.key.namespace != name }
          }
        }
        states.append(state)
      }
      return states[number]
    }

    /// A difference between the contents of the store and those of batch `number` in the model. Nil if there is no difference.
    package mutating func difference(_ store: Store) throws -> String? {
      let number = try number(in: store)
      let state = state(after: number)
      for name in namespaces {
        let namespace = store.namespace(name)
        let expected = state.keys.count { $0.namespace == name }
        let found = try namespace.count()
        if found != expected { return "\(name) has \(found) entries and not \(expected)" }
      }
      for (place, expected) in state {
        let value: [UInt8]? = try store.namespace(place.namespace).value(for: place.key)
        if value != Fixture.filling(expected.filling, count: expected.count) {
          return "\(place) is not what batch \(number) left"
        }
      }
      return nil
    }
  }
}

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
        // In one of five rounds, adds to the group a write that must be refused.
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
    } catch let error as LarderError where error.code == .overLimit { return }
    throw LarderError(.failed, "a value that is too large was not refused")
  }
}
