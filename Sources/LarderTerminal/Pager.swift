#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that shows a long text a screen at a time.
package final class Pager {
  private var descriptor: Int32
  private let process: pid_t

  /// The command that `$PAGER` names, else `less` in a way that leaves short texts alone and keeps colours; nil where
  /// there is no such program.
  package static func command(environment: [String: String]) -> String? {
    let wanted = environment["PAGER", default: ""]
    let command = wanted.isEmpty ? "less -FRX" : wanted
    let program = String(command.prefix { !" \t;|&<>()".contains($0) })
    let folders = environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
    let paths = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
    return paths.contains { path in unsafe access(path, X_OK) == 0 } ? command : nil
  }

  /// Starts it on this process's terminal.
  package init(_ command: String) throws(TerminalError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .failed(operation: "pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { _ = Self.close(ends[0]) }
    descriptor = ends[1]
    do {
      process = try unsafe Self.start(command, reading: ends[0])
    } catch {
      _ = Self.close(ends[1])
      throw error
    }
  }

  @unsafe private static func start(
    _ command: String, reading input: Int32
  ) throws(TerminalError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    let words = unsafe [strdup("sh"), strdup("-c"), strdup(command), nil]
    defer { for index in 0..<3 { unsafe free(words[index]) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, "/bin/sh", &actions, nil, words, environ)
    guard code == 0 else { throw .failed(operation: "start \(command)", code: code) }
    return process
  }

  /// Throws `.closed` when the person has seen enough.
  package func write(_ bytes: Span<UInt8>) throws(TerminalError) {
    try Terminal.write(bytes, to: descriptor)
  }

  /// Says that this was all, and waits until the person leaves.
  package func finish() {
    guard descriptor >= 0 else { return }
    _ = Self.close(descriptor)
    descriptor = -1
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  deinit { finish() }

  private static func close(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }
}
