#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that shows a long text a screen at a time.
package final class Pager {
  private let program: ChildProgram

  /// The command in `$PAGER`, else `less` with colors kept and short texts printed; nil where there is no
  /// such program, and on terminals that cannot move the cursor.
  package static func command(environment: [String: String]) -> String? {
    guard Terminal.movesCursor(on: .output, environment: environment) else { return nil }
    let wanted = environment["PAGER", default: ""]
    let command = wanted.isEmpty ? "less -FRX" : wanted
    let program = String(command.prefix { !" \t;|&<>()".contains($0) })
    let folders = environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
    let paths = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
    return paths.contains { path in unsafe access(path, X_OK) == 0 } ? command : nil
  }

  /// Starts the pager on this process's terminal.
  package init(_ command: String) throws(TerminalError) {
    program = ChildProgram(Array(command.utf8))
    try program.open()
  }

  /// Throws `.closed` when the person has left the pager.
  package func write(_ bytes: Span<UInt8>) throws(TerminalError) { try program.write(bytes) }

  /// Ends the text, and waits until the person leaves.
  package func finish() { _ = program.finish() }
}
