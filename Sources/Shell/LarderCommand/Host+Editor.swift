import LarderShell
import LarderSystem
import LarderTerminal
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Host.Draft {
  /// Makes a file that only its owner can read, in a directory of its own: the value may be private.
  init(
    _ bytes: [UInt8], pathExtension: String, _ environment: [String: String],
    before release: @escaping () throws -> Void
  ) throws {
    let directory = try Self.directory(in: environment["TMPDIR"] ?? "/tmp")
    let path = "\(directory)/value.\(pathExtension)"
    try FileProblem.explaining {
      let file = try ByteFile(writing: path, replaces: false, permissions: 0o600)
      try file.write(bytes.span)
      try file.finish()
    }
    let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    self.init(
      path: path,
      run: {
        try release()
        // VISUAL or EDITOR may hold arguments, so a shell runs the text; the path is quoted.
        let problem = try ChildProgram(Array("\(editor ?? "vi") \(path.shellWord)".utf8)).run()
        Interrupts.acknowledge()
        return problem
      },
      contents: { try Self.contents(of: path) },
      remove: {
        // The whole directory is removed, because editors leave copies beside the file.
        do { try FileManager.default.removeItem(atPath: directory) } catch {
          throw FileProblem.failed("cannot remove \(directory)")
        }
      })
  }

  private static func directory(in parent: String) throws(ShellError) -> String {
    do throws(TerminalError) {
      return try PrivateDirectory.create(in: parent)
    } catch {
      throw ShellError(
        .io, "cannot create a directory in \(Array(parent.utf8)): \(error.description)",
        hint: "set TMPDIR to a directory that can be written")
    }
  }

  private static func contents(of path: String) throws -> [UInt8] {
    try FileProblem.explaining {
      let file = try ByteFile(reading: path)
      var bytes: [UInt8] = []
      while true {
        guard let piece = try file.read() else { throw Interruption() }
        if piece.isEmpty { return bytes }
        bytes += piece
      }
    }
  }
}
