import ArgumentParser

struct MemoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Replays access traces through a cache's memory: its hit ratio beside that of LRU.")

  @OptionGroup var place: Place
  @Argument(help: "Access traces, plain or compressed with gzip.") var traces: [String]
  @Option(help: "Capacities, in percent of a trace's distinct keys.") var percent = [1.0, 10]

  func run() throws {
    try place.withDirectory { directory in
      for file in traces { try MemoryTrace(file).report(percent: percent, directory: directory) }
    }
  }
}
