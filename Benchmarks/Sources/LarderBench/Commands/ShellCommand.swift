import ArgumentParser

struct ShellCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "What single commands of the program `larder` cost in a large store.",
    discussion: "Build it first: swift build -c release --product larder")

  @OptionGroup var place: Place
  @Option(help: "The program.") var program = "../.build/release/larder"
  @Option(help: "How many entries the store has.") var count = 1_000_000
  @Option(help: "How many have a tag, expire soon, and are over.") var few = 1000
  @Option(help: "Runs of a command, of which the median counts.") var rounds = 5

  func run() throws {
    try place.withDirectory { directory in
      let speed = try ShellSpeed(program: program, count: count, few: few, in: directory)
      let start = try speed.run(["echo"], rounds: rounds)
      func report(_ words: String...) throws {
        let use = try speed.run(words, rounds: rounds)
        say(
          "\(words.joined(separator: " ")): \(Unit.nanoseconds.text(use.time - start.time)) beyond "
            + "`echo`, \(Unit.bytes.text(use.memory - start.memory)) of memory")
      }
      say("\(grouped(count)) entries; `echo`: \(Unit.nanoseconds.text(start.time))")
      say("a scan of all headers by the library: \(Unit.nanoseconds.text(try speed.headers()))")
      try report("keys", "@large", "--sort", "size", "--limit", "5")
      try report("keys", "@large", "--reverse", "--limit", "3")
      try report("count", "@large")
      try report("keys", "@large", "--expiring", "1h")
      try report("keys", "@large", "--tag", "few")
      try report("purge", "@large", "--dry-run")
      try report("get", "@large", "entry:000000500")
      if let empty = try speed.emptySwift(rounds: rounds) {
        say("an empty program in Swift: \(Unit.nanoseconds.text(empty.time))")
      }
      if let read = try speed.readInC(rounds: rounds) {
        say("opening and one read in C: \(Unit.nanoseconds.text(read.time))")
      }
    }
  }
}
