import Foundation
import Synchronization

/// A process of a machine. The calling process starts and ends this process, and serves as its origin.
public final class MachineProcess: Sendable {
  /// The settings of a machine's process at its start.
  public struct Settings: Sendable {
    /// The path of the program to start; see `FleetKit.runMachine(_:)`.
    public var program: String
    /// The folder of the machine's store.
    public var store: String
    /// The file to which the process appends its calls.
    public var history: String
    /// The ports of the servers on 127.0.0.1.
    public var ports: [Int]
    /// The index of the machine and the number of machines. A machine changes each key for which `key % count` is `index`.
    public var machine: (index: Int, count: Int)
    /// The number of keys.
    public var keys: Int
    /// The seed of the process's random choices.
    public var seed: UInt64
    /// Whether the process changes keys.
    public var changes: Bool

    /// Settings with these values.
    public init(
      program: String, store: String, history: String, ports: [Int],
      machine: (index: Int, count: Int), keys: Int, seed: UInt64, changes: Bool = true
    ) {
      self.program = program
      self.store = store
      self.history = history
      self.ports = ports
      self.machine = machine
      self.keys = keys
      self.seed = seed
      self.changes = changes
    }

    var arguments: [String] {
      [
        "machine", store, history, ports.map(String.init).joined(separator: ","),
        "\(machine.index)", "\(machine.count)", "\(keys)", "\(seed)", changes ? "1" : "0",
      ]
    }

    init?(_ arguments: [String]) {
      guard arguments.count == 9, let index = Int(arguments[4]), let count = Int(arguments[5]),
        let keys = Int(arguments[6]), let seed = UInt64(arguments[7])
      else { return nil }
      self.init(
        program: "", store: arguments[1], history: arguments[2],
        ports: arguments[3].split(separator: ",").compactMap { Int($0) }, machine: (index, count),
        keys: keys, seed: seed, changes: arguments[8] == "1")
    }
  }

  /// The time that the origin takes for one value.
  private static let originDelay = Duration.milliseconds(20)

  private let process = Process()
  private let input: LineWriter
  private let answers = Mutex<[String: CheckedContinuation<String, Never>]>([:])

  /// Starts the process.
  public init(_ settings: Settings, origin: Origin) throws {
    let (output, input) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: settings.program)
    process.arguments = settings.arguments
    process.standardInput = input
    process.standardOutput = output
    self.input = LineWriter(input.fileHandleForWriting)
    try process.run()
    readLines(
      output.fileHandleForReading, { [weak self] in self?.answer($0, origin) },
      end: { [weak self] in self?.finish() })
  }

  deinit { kill() }

  private func answer(_ line: String, _ origin: Origin) {
    let words = line.split(separator: " ").map(String.init)
    guard words.count >= 2 else { return }
    switch words[0] {
    case "load":
      let key = Int(words[2]) ?? 0
      Task { [input] in
        try? await Task.sleep(for: Self.originDelay)
        input.write("value \(words[1]) \(origin.load(key))")
      }
    case "change": input.write("value \(words[1]) \(origin.change(Int(words[2]) ?? 0))")
    default:
      answers.withLock { $0.removeValue(forKey: words[0]) }?.resume(
        returning: words.dropFirst().joined(separator: " "))
    }
  }

  private func finish() {
    let waiting = answers.withLock { answers in
      defer { answers = [:] }
      return answers
    }
    for continuation in waiting.values { continuation.resume(returning: "") }
  }

  /// Sends a word and waits for the line that begins with that word.
  public func ask(_ word: String) async -> String {
    await withCheckedContinuation { continuation in
      answers.withLock { $0[word] = continuation }
      input.write(word)
      if !process.isRunning { finish() }
    }
  }

  var identifier: Int32 { process.processIdentifier }

  /// Ends the process immediately, as a crash does.
  public func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops the process until ``resume()``.
  public func suspend() { Foundation.kill(process.processIdentifier, SIGSTOP) }
  /// Continues the process after ``suspend()``.
  public func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }
}
