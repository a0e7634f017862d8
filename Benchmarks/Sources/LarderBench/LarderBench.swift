import ArgumentParser
import Foundation

@main
struct LarderBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Measures Larder beside what could be used in its place, in one process and in turns.",
    subcommands: [
      PeersCommand.self, GrowthCommand.self, PurgeCommand.self, MemoryCommand.self,
      WatchCommand.self, ShellCommand.self, MarkdownCommand.self, ReaderCommand.self,
    ],
    defaultSubcommand: PeersCommand.self)
}

struct Place: ParsableArguments {
  @Option(help: "Where the stores are made; emptied before and after.")
  var directory = NSTemporaryDirectory() + "larder-bench"

  func withDirectory(_ body: (String) throws -> Void) throws {
    try FileManager.default.removeItemIfPresent(directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // Some workloads make temporary stores. With this setting, these stores are on the same disk as all other stores.
    setenv("TMPDIR", directory, 1)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch {
        FileHandle.standardError.write(Data("\(directory) is left: \(error)\n".utf8))
      }
    }
    try body(directory)
  }
}

struct Effort: ParsableArguments {
  @Option(help: "Rounds of what is quick, of which the median counts.") var rounds = 9
  @Option(help: "Rounds of what takes long: loading, purging.") var longRounds = 3
  @Option(help: "Milliseconds of a quick round.") var roundTime = 40.0
  @Option(
    help: "Time by the wall, or by the thread's processor time on a busy machine.")
  var clock = RunClock.wall
  @Option(help: "Only workloads with this in their names, such as insert; repeatable.")
  var work: [String] = []

  var settings: Settings {
    Settings(
      rounds: rounds, longRounds: longRounds, roundTime: roundTime * 1e6,
      clock: clock, only: work)
  }
}

struct Output: ParsableArguments {
  @Option(help: "Write what was measured as JSON to this file.") var json: String?
  @Option(help: "Draw it as SVG in this file.") var svg: String?

  func write(_ report: Report, drawing: () -> String?) throws {
    if let json { try Document(report).write(to: json) }
    if let svg, let drawing = drawing() {
      try drawing.write(toFile: svg, atomically: true, encoding: .utf8)
    }
  }
}

extension RunClock: ExpressibleByArgument {}

/// The peers that take part in a command.
struct Roster: ParsableArguments {
  @Option(help: "Take part: \(PeerKind.all.map(\.id).joined(separator: ", ")); repeatable.")
  var peer: [String] = []

  func kinds(unless isLeftOut: (PeerKind) -> Bool = { _ in false }) throws -> [PeerKind] {
    for id in peer where PeerKind.named(id) == nil {
      throw ValidationError("there is no peer \(id)")
    }
    return PeerKind.all.filter { peer.isEmpty ? !isLeftOut($0) : peer.contains($0.id) }
  }
}
