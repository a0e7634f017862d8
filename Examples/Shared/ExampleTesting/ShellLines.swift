// Only a build for testing lets the shell be seen from here.
#if DEBUG
  import Foundation
  public import Larder

  @testable import LarderShell
  @testable import ShellLanguage

  /// What a program's last words tell people to type, typed.
  public enum ShellLines {
    /// The commands in lines such as `larder 'my store' -e 'keys @parts'`, as a shell hands them to `larder`.
    public static func commands(in output: String) throws -> [String] {
      let lines = output.split(separator: "\n").filter { $0.hasPrefix("  larder ") }
      return try lines.map { line in
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "larder() { printf '%s' \"$3\"; }\n\(line)"]
        process.standardOutput = pipe
        try process.run()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
      }
    }

    /// What the commands answer, one after the other; throws what one of them refuses.
    public static func run(_ commands: [String], in store: Store) throws -> [String] {
      try commands.map { command in
        var printed: [UInt8] = []
        let host = LarderShell.Host(
          write: { printed += $0 },
          read: { throw CocoaError(.fileReadNoSuchFile, userInfo: ["path": $0]) },
          make: { path, _ in throw CocoaError(.fileWriteNoPermission, userInfo: ["path": path]) })
        let session = Session(store: store, settings: Settings(), host: host)
        for line in try CommandReader.commands(in: Array(command.utf8), from: .prompt) {
          _ = try session.run(line)
        }
        return String(decoding: printed, as: UTF8.self)
      }
    }
  }
#endif
