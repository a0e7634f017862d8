import Larder
public import LarderShared

/// Checks that a sender keeps the rules of `CommandSender`, on a server to which the checks may write.
///
///     for check in SenderConformance.allCases { try await check.run(on: sender) }
public enum SenderConformance: String, CaseIterable, Sendable {
  /// Strings of any size, with every possible byte, arrive at the server and come back unchanged.
  case bytes
  /// Replies of different types can be distinguished.
  case types
  /// An error of the server is a reply.
  case failures
  /// Each command gets its own reply, even if many tasks send commands at the same time.
  case manyTasks
  /// A command is abandoned at its timeout, and the next commands get their own replies.
  case abandoned

  /// Runs the check under a random key, which the check removes at the end.
  ///
  /// Takes up to half a second, in which ``abandoned`` waits for a command that blocks.
  public func run(on sender: some CommandSender) async throws {
    let key = "conformance:{conformance}:\(rawValue)-\(UInt64.random(in: 0...UInt64.max))"
    func send(_ words: String..., timeout: Duration = .seconds(10)) async throws -> Reply {
      try await sender.send(Command(words.map { Array($0.utf8) }, timeout: timeout))
    }
    switch self {
    case .bytes:
      for count in [0, 1, 100, 70_000, 2_000_000] {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let set = Command([Array("SET".utf8), Array(key.utf8), value], timeout: .seconds(10))
        _ = try await sender.send(set)
        try require(try await send("GET", key) == .bytes(value), "\(count) bytes come back")
      }
    case .types:
      try require(try await send("GET", key) == .null, "a missing value is null")
      try require(try await send("INCR", key) == .number(1), "a count is a number")
      let list = Reply.list([.bytes([49]), .null])
      try require(try await send("MGET", key, key + "x") == list, "several values are a list")
    case .failures:
      guard case .failure = try await send("NOSUCHCOMMAND") else {
        throw ConformanceFailure(description: "an unknown command is a failure")
      }
      try require(try await send("GET", key) == .null, "the connection goes on after a failure")
    case .manyTasks:
      try await withThrowingTaskGroup { group in
        for index in 0..<200 {
          group.addTask {
            let reply = try await sender.send(
              Command(["ECHO", "\(index)"].map { Array($0.utf8) }, timeout: .seconds(10)))
            try require(reply == .bytes(Array("\(index)".utf8)), "each task gets its own reply")
          }
        }
        try await group.waitForAll()
      }
    case .abandoned:
      // The first command makes the connection. A timeout while connecting would be another error than the tested error.
      _ = try await send("ECHO", "first")
      do {
        _ = try await send("BLPOP", key, "0.3", timeout: .milliseconds(20))
        throw ConformanceFailure(description: "a command whose time is up is abandoned")
      } catch let error as LarderError {
        try require(error.code == .unanswered, "the error of such a command is `unanswered`")
      }
      try require(
        try await send("ECHO", "next") == .bytes(Array("next".utf8)), "the late reply is dropped")
    }
    _ = try await send("DEL", key)
  }
}
