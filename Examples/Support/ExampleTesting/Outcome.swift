public import Foundation
import Synchronization

/// The result of running a built program.
///
/// The wait is on a thread of its own: a test that blocked its thread would stop the servers that the tests run.
public struct Outcome: Sendable {
  public var code: Int32
  public var output: String
  public var error: String

  public static let canFakeTerminal: Bool = {
    #if os(Linux)
      FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
    #else
      false
    #endif
  }()

  /// Whether a command can have a small file system of its own: `unshare -rm`, and then `mount`.
  public static let canMount: Bool = {
    do {
      let probe = Process()
      probe.executableURL = URL(filePath: "/usr/bin/unshare")
      probe.arguments = ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
      probe.standardError = FileHandle.nullDevice
      try probe.run()
      probe.waitUntilExit()
      return probe.terminationStatus == 0
    } catch {
      return false
    }
  }()

  /// - Parameter command: the program's name and its arguments.
  public init(of command: [String]) async throws {
    try await self.init(Self.built(command[0]), Array(command.dropFirst()))
  }

  /// Runs it with a terminal for input and output; `output` has both of the program's streams.
  public init(atTerminal command: [String]) async throws {
    let words = [try Self.built(command[0]).path] + command.dropFirst()
    let line = words.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }
    try await self.init(
      URL(filePath: "/usr/bin/script"), ["-qec", line.joined(separator: " "), "/dev/null"])
  }

  /// Runs a shell command line with the built programs in the PATH: `larder my.larder -e keys`.
  public init(line: String) async throws {
    let programs = try Self.built("larder").deletingLastPathComponent().path
    try await self.init(
      URL(filePath: "/bin/sh"), ["-c", "PATH=\"$1:$PATH\"; \(line)", "sh", programs])
  }

  /// The closing lines of the output that call `larder`.
  public var suggestions: [String] {
    output.split(separator: "\n").filter { $0.hasPrefix("  larder ") }.map {
      String($0.dropFirst(2))
    }
  }

  private init(_ program: URL, _ arguments: [String]) async throws {
    self = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Outcome(waitingFor: program, arguments) })
      }
    }
  }

  /// Held while a process starts: Foundation crashed where many threads started processes at once.
  private static let starting = Mutex(())

  private init(waitingFor program: URL, _ arguments: [String]) throws {
    let process = Process()
    let (output, error) = (Pipe(), Pipe())
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = error
    try Self.starting.withLock { _ in try process.run() }
    // Standard error fits into a pipe, so the streams can be read one after the other.
    self.output = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    self.error = String(
      decoding: try error.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    code = process.terminationStatus
  }

  /// The program that was built along with these tests.
  public static func built(_ name: String) throws -> URL {
    var folder = Bundle.main.bundleURL
    for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
      folder = bundle.bundleURL.deletingLastPathComponent()
    }
    let program = folder.appending(path: name)
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: program.path])
    }
    return program
  }
}
