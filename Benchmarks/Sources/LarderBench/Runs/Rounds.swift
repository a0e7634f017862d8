/// The results of one participant in all rounds.
struct Outcome {
  /// The figures of each round. A round has several figures if it measures several workloads.
  var figures: [[Double]] = []
  /// The reason why the participant did not take part.
  var reason: String?
}

enum Rounds {
  /// Runs every participant once in each round, in random order, so that a disturbance does not always affect one participant.
  ///
  /// `body` runs one round of one participant and returns its figures. If `body` throws ``Unsupported``, this participant stops.
  static func run(
    of participants: Int, rounds: Int, seed: String, _ body: (Int, Int) throws -> [Double]
  ) throws -> [Outcome] {
    var outcomes = [Outcome](repeating: Outcome(), count: participants)
    var generator = SplitMix(state: seed.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
    for round in 0..<rounds {
      for index in (0..<participants).shuffled(using: &generator)
      where outcomes[index].reason == nil {
        do {
          outcomes[index].figures.append(try body(index, round))
        } catch let error as Unsupported {
          outcomes[index].reason = error.reason
        }
      }
    }
    return outcomes
  }
}

extension Line {
  /// The line of an outcome, with the ratio to the reference. `part` is the index of the workload among the figures of a round.
  init(
    _ scenario: Scenario, _ workload: String, peer: String, name: String, level: Level, unit: Unit,
    outcome: Outcome, reference: Outcome?, part: Int = 0
  ) {
    self.init(
      scenario: scenario, workload: workload, peer: peer, name: name, level: level, unit: unit)
    reason = outcome.reason
    guard outcome.reason == nil, !outcome.figures.isEmpty else { return }
    let mine = outcome.figures.map { $0[part] }
    rounds = mine.count
    figure = Figure(mine)
    guard let reference, reference.reason == nil else { return }
    let theirs = reference.figures.map { $0[part] }
    if theirs.allSatisfy({ $0 > 0 }) { ratio = Figure(zip(mine, theirs).map { $0 / $1 }) }
  }
}
