import ArgumentParser
import Larder

/// What a writer pays for those who watch: in a store that nobody ever watched, in one that somebody once did, and in one
/// that somebody watches.
struct Watching {
  enum State: String, CaseIterable, ExpressibleByArgument {
    case never, once, watched
  }

  let store: Store
  private let entries: Namespace
  private let changes: Changes?
  private let value = [UInt8](repeating: 118, count: 200)

  init(_ state: State) throws {
    store = try Store.temporary()
    entries = store.namespace("entries")
    try entries.set(value, for: 0)
    let changes = state == .never ? nil : store.changes()
    self.changes = state == .watched ? changes : nil
  }

  /// Nanoseconds for one overwrite, `batch` of them in a transaction.
  func overwrite(_ count: Int, batch size: Int) throws -> Double {
    let time = try nanoseconds {
      for _ in 0..<count / size {
        try store.write { batch in
          for key in 0..<size { try batch.set(value, for: key, in: entries) }
        }
      }
    }
    return time / Double(count)
  }
}

struct WatchBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watching", abstract: "What writing costs when nobody, and when somebody, watches."
  )

  @Option(help: "Only that state, for counting instructions: never, once or watched.")
  var state: Watching.State?
  @Option(help: "Overwrites in a transaction; repeatable.") var batch: [Int] = [1, 100]
  @Option(help: "Overwrites in a round.") var operations = 20_000
  @Option(help: "Rounds, of which the median counts.") var rounds = 15

  func run() throws {
    let states = state.map { [$0] } ?? Watching.State.allCases
    for size in batch {
      let stores = try states.map { try Watching($0) }
      var samples = states.map { _ in Sample() }
      for _ in 0..<rounds {
        for index in states.indices {
          samples[index].nanoseconds.append(
            try stores[index].overwrite(operations, batch: size))
        }
      }
      for (state, sample) in zip(states, samples) {
        print(
          "\(size) to a transaction, \(state.rawValue): \(Int(sample.median)) ns each, "
            + "\(text(sample.median / samples[0].median)) of \(states[0].rawValue)")
      }
    }
  }
}
