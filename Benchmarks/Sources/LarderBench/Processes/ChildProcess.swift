import Foundation

/// A child process of the benchmark. If the system has `setpriv`, the child cannot outlive the benchmark.
final class ChildProcess: Sendable {
  private let process: Shared<Process>
  private let input: Shared<FileHandle>
  private let output: Shared<LineReader>

  var id: Int32 { process.value.processIdentifier }

  init(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    // With `setpriv`, the kernel ends the child even if the benchmark is killed.
    if let wrapper = Programs.path(of: "setpriv") {
      process.executableURL = URL(fileURLWithPath: wrapper)
      process.arguments = ["--pdeathsig", "KILL", program] + arguments
    } else {
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
    }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    self.process = Shared(process)
    self.input = Shared(input.fileHandleForWriting)
    self.output = Shared(LineReader(output.fileHandleForReading.fileDescriptor, keeping: output))
  }

  func send(_ line: String) throws { try input.value.write(contentsOf: Data((line + "\n").utf8)) }

  func receive() throws -> String {
    guard let line = output.value.next() else { throw Failure("a child process ended early") }
    return line
  }

  /// Ends the process and waits for its end.
  func stop() {
    try? input.value.close()
    process.value.terminate()
    process.value.waitUntilExit()
  }
}

/// Reads lines from a descriptor as soon as the lines arrive.
final class LineReader {
  private let descriptor: Int32
  private let owner: AnyObject
  private var pending: [UInt8] = []

  init(_ descriptor: Int32, keeping owner: AnyObject) {
    self.descriptor = descriptor
    self.owner = owner
  }

  func next() -> String? {
    while true {
      if let end = pending.firstIndex(of: 10) {
        defer { pending.removeSubrange(...end) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count <= 0 { return nil }
      pending += buffer[..<count]
    }
  }
}

/// The programs that the system has.
enum Programs {
  static func path(of name: String) -> String? {
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin"
    return path.split(separator: Character(":")).map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }
}
