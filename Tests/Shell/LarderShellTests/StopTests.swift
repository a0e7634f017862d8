import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A command that goes over many entries stops at any place where it looks for ^C, and looks often.
@Suite struct StopTests {
  private static let count = 1200
  /// The most entries between two looks: less than a millisecond of work.
  private static let between = 600

  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    try shell.store.write { batch in
      for number in 0..<Self.count {
        var attributes = EntryAttributes(codec: .json, expires: .after(.hours(1 + number % 9)))
        attributes.tags = ["all"]
        try batch.set(
          bytes("{\"n\":\(number % 100)}"), for: "k\(number)", in: shell.store.namespace("a"),
          attributes)
      }
    }
    return shell
  }

  @Test(arguments: [
    "count @a --larger 0", "count @a --by .n", "sum .n @a", "avg .n @a --by .n",
    "keys @a --limit all",
    "keys @a --long", "keys @a --sort size", "keys @a --sort .n --limit 3", "keys @a --reverse",
    "keys @a --tag all", "keys @a --where '.n > 5'", "keys @a --regex 9", "get @a *", "get @a * .n",
    "ttl @a", "expiring @a --within 9h", "search 77 @a", "sizes @a --by key --top all",
    "sizes @a --by prefix --separator 1", "plot @a", "plot age @a --log", "export - @a",
    "export - @a --format csv", "verify --deep", "evict @a --larger 1 --dry-run",
    "evict @a --larger 1 --yes", "expire @a --larger 1 1h --yes", "touch @a --ttl 1h --yes",
    "persist @a --yes", "pin @a --yes", "report -",
  ])
  func `each look for an interruption ends a command`(line: String) throws {
    let shell = try shell()
    var looks = 0
    shell.whenLooking = { looks += 1 }
    try shell(line)
    shell.whenLooking = {}
    #expect(looks >= Self.count / Self.between, "\(line): \(looks) looks")
    for step in Set([0, 1, looks / 2, looks - 1]) {
      let shell = try self.shell()
      shell.stepsUntilInterrupted = step
      #expect(try shell.error(line).code == .interrupted, "\(line), look \(step) of \(looks)")
    }
  }
}
