public import Foundation

/// A built program that runs during a test. Its output can be read line by line.
public final class Running {
  private let process = Process()
  private let output: FileHandle
  private var rest = Data()

  /// - Parameter command: the program's name and its arguments.
  public init(of command: [String]) throws {
    let pipe = Pipe()
    output = pipe.fileHandleForReading
    process.executableURL = try Outcome.built(command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    try process.run()
  }

  /// The next line of the output; throws at the end.
  public func line() throws -> Data {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Data(rest[..<end])
        rest = Data(rest[(end + 1)...])
        return line
      }
      let more = output.availableData
      guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
      rest += more
    }
  }

  deinit { if process.isRunning { process.terminate() } }
}
