import ArgumentParser

struct UpkeepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upkeep", abstract: "A durable purge beside a writer of the same process.")

  @OptionGroup var place: Place
  @Option(help: "How many expired entries are purged.") var expired = 500_000

  func run() throws {
    try place.withDirectory { directory in
      let (whole, waits) = try Upkeep(count: expired, directory: directory).run()
      let figure = Figure(waits)
      print(
        "purge \(grouped(expired)) expired entries: \(Int(whole)) ms; another writer's commit: median "
          + "\(Unit.nanoseconds.text(figure.median * 1e6)), longest "
          + "\(Unit.nanoseconds.text((waits.max() ?? 0) * 1e6))")
    }
  }
}
