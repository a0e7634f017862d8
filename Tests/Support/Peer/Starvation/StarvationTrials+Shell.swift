import Foundation
import Larder
import TestSupport

extension StarvationTrials {
  static let shell = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("larder").path

  /// Lets the shell make a store, write, read and verify. The shell must end with an exit code, except if memory is short.
  mutating func runShell(
    _ store: String, _ shortage: Shortage, _ amount: Int, _ what: String
  ) throws {
    let limit =
      switch shortage {
      case .descriptors: "ulimit -n \(amount)"
      // Adds 400 MB for the program itself.
      case .space: "ulimit -v \((amount + 400) << 10)"
      case .memory: "ulimit -d \(amount << 10)"
      case .threads, .disk: "true"
      }
    let commands = (0..<20).map {
      "-e 'set @notes k\($0) \(String(repeating: "v", count: $0 * 400 + 1))'"
    }.joined(separator: " ")
    let line =
      "\(limit); timeout -k 10 60 '\(Self.shell)' '\(store)' --create -k -o plain \(commands)"
      + " -e 'ls @notes' -e verify -e stats -e purge"
    let (status, text) = try Process.output(
      of: ["/bin/sh", "-c", line],
      environment: ["SWIFT_BACKTRACE": "enable=no", "HOME": directory, "PATH": "/usr/bin:/bin"])
    switch status {
    case 124: fail(what, "the shell hangs")
    // The status 137 means that `timeout` had to kill the shell.
    case 137 where shortage != .memory: fail(what, "the shell hangs")
    // The statuses 125 to 127 are no failure: the loader or `timeout` itself lacked descriptors or address space.
    case 128...:
      if shortage == .memory {
        ended += 1
      } else {
        fail(what, "the shell ended with \(status)")
      }
    default: break
    }
    let acked = text.split(separator: "\n").filter { $0.hasPrefix("set\tnotes\tk") }
      .compactMap { Int($0.dropFirst(11)) }
    try check(store, acked, what, mayBeFull: shortage == .disk) {
      (store, number) throws(LarderError) in
      let value: String? = try store.namespace("notes").value(for: "k\(number)")
      return value?.utf8.count == number * 400 + 1
    }
  }
}
