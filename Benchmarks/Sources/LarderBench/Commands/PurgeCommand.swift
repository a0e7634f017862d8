import ArgumentParser

struct PurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Purges of Larder's alone, each commit on the disk.")

  @OptionGroup var place: Place
  @Option(help: "How many expired entries are purged.") var expired = 500_000

  func run() throws {
    try place.withDirectory { directory in
      let bench = try MaintenanceBench(count: expired, directory: directory)
      let time = Unit.nanoseconds.text
      let (whole, waits) = try bench.besideWriter()
      say(
        "purge of \(grouped(expired)) beside a writer: \(time(whole)); the writer's commits: median "
          + "\(time(Figure(waits).median)), longest \(time(waits.max() ?? 0))")
      say("with nobody else there: \(time(try bench.alone()))")
      let (idle, one) = try bench.little()
      say(
        "with nothing due: \(time(Figure(idle).median)); of one namespace's 1,000 beside "
          + "\(grouped(expired)) due in another: \(time(one))")
    }
  }
}
