import ArgumentParser

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watching", abstract: "What writing costs when nobody, and when somebody, watches."
  )

  @OptionGroup var place: Place
  @Option(help: "Only that state, for counting instructions: never, once or watched.")
  var state: Watching.State?
  @Option(help: "Overwrites in a transaction; repeatable.") var batch = [1, 100]
  @Option(help: "Overwrites in a round.") var operations = 20_000
  @Option(help: "Rounds, of which the median counts.") var rounds = 15

  func run() throws {
    try place.withDirectory { _ in
      for size in batch { try compare(state.map { [$0] } ?? Watching.State.allCases, batch: size) }
    }
  }

  private func compare(_ states: [Watching.State], batch size: Int) throws {
    let stores = try states.map { try Watching($0) }
    var times = states.map { _ in [Double]() }
    for _ in 0..<rounds {
      for index in states.indices {
        times[index].append(try stores[index].overwrite(operations, batch: size))
      }
    }
    let figures = times.map { Figure($0) }
    for (state, figure) in zip(states, figures) {
      say(
        "\(size) to a transaction, \(state.rawValue): \(Unit.nanoseconds.text(figure.median)) each, "
          + "\(Unit.factor.text(figure.median / figures[0].median)) of \(states[0].rawValue)")
    }
  }
}

extension Watching.State: ExpressibleByArgument {}
