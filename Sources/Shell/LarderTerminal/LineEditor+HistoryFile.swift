#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension LineEditor {
  /// A plain file with the entries of all sessions, each on its own line, the oldest first, which only the owner can read. A lock
  /// prevents that sessions lose entries of each other. In an entry, `\n` means a newline, and `\\` a backslash.
  package struct HistoryFile: Sendable {
    /// The number of entries that a person can recall. If a file has more than twice this number, the oldest entries are removed.
    package static let limit = 1_000

    package let path: String

    package init(at path: String) { self.path = path }

    package var exists: Bool { unsafe access(path, F_OK) == 0 }

    package static func standard(environment: [String: String]) -> HistoryFile? {
      UserFile.path("history", in: "XDG_STATE_HOME", or: ".local/state", environment)
        .map { HistoryFile(at: $0) }
    }

    /// The newest entries. Of equal entries, the list has only the newest entry.
    package func load() throws(TerminalError) -> [String] {
      try locked { descriptor throws(TerminalError) in
        let stream = Terminal.Stream(descriptor: descriptor)
        var contents: [UInt8] = []
        while case let chunk = try Terminal.read(stream), !chunk.isEmpty { contents += chunk }
        let lines = contents.split(separator: UInt8(ascii: "\n"))
        var known: Set<[UInt8]> = []
        let newest = lines.reversed().filter { known.insert(Array($0)).inserted }.prefix(Self.limit)
        if lines.count > 2 * Self.limit {
          try? shorten(descriptor, to: newest.reversed().flatMap { $0 + [UInt8(ascii: "\n")] })
        }
        return newest.reversed().map { Self.decoded(String(decoding: $0, as: UTF8.self)) }
      }
    }

    package func clear() throws(TerminalError) {
      try locked { descriptor throws(TerminalError) in
        try check(ftruncate(descriptor, 0) == 0, "truncate")
      }
    }

    func append(_ entry: String) throws(TerminalError) {
      let line = Array((Self.encoded(entry) + "\n").utf8)
      try locked { descriptor throws(TerminalError) in
        try Terminal.write(line.span, to: Terminal.Stream(descriptor: descriptor))
      }
    }
  }
}

extension LineEditor.HistoryFile {
  static func encoded(_ entry: String) -> String {
    entry.unicodeScalars.map { $0 == "\\" ? "\\\\" : $0 == "\n" ? "\\n" : String($0) }.joined()
  }

  static func decoded(_ line: String) -> String {
    var entry = String.UnicodeScalarView()
    var scalars = line.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      if scalar != "\\" {
        entry.append(scalar)
      } else if let escaped = scalars.next() {
        entry.append(escaped == "n" ? "\n" : escaped)
      }
    }
    return String(entry)
  }

  private func locked<R>(_ body: (Int32) throws(TerminalError) -> R) throws(TerminalError) -> R {
    try makeDirectories()
    // A pipe at the path must not make the prompt wait for a writer. A device must keep its mode, so only a file gets a new mode.
    let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
    while true {
      let descriptor = unsafe open(path, flags, 0o600)
      try check(descriptor >= 0, path)
      defer { close(descriptor) }
      var (own, there) = (stat(), stat())
      try unsafe check(fstat(descriptor, &own) == 0, path)
      guard own.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile(path) }
      try check(fchmod(descriptor, 0o600) == 0, path)
      try lock(descriptor)
      // If another session replaced the file before this lock was taken, the lock is on the old file, so the loop tries again.
      let isInPlace = unsafe stat(path, &there) == 0
      if isInPlace, (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino) {
        return try body(descriptor)
      }
    }
  }

  /// Waits at most a second for the lock, because a stopped process may hold the lock.
  private func lock(_ descriptor: Int32) throws(TerminalError) {
    for attempt in 1... {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      try check([EWOULDBLOCK, EINTR].contains(errno) && attempt < 50, path)
      usleep(20_000)
    }
  }

  private func makeDirectories() throws(TerminalError) {
    for end in path.indices.dropFirst() where path[end] == "/" {
      let made = unsafe mkdir(String(path[..<end]), 0o700)
      try check(made == 0 || errno == EEXIST, path)
    }
  }

  /// Replaces the locked file by a shorter file, so that a kill loses nothing. If this fails, the next session tries again.
  private func shorten(_ descriptor: Int32, to contents: [UInt8]) throws(TerminalError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return }
    let file = try ByteFile(writing: path, replaces: true, owner: (status.st_uid, status.st_gid))
    try file.write(contents.span)
    try file.finish()
  }
}

package enum UserFile {
  /// A file for the user: in the directory `variable`, or else in `folder` of the home directory. Nil if neither is absolute.
  package static func path(
    _ name: String, in variable: String, or folder: String, _ environment: [String: String]
  ) -> String? {
    let home = environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/\(folder)" }
    return [environment[variable], home].compactMap(\.self).first { $0.hasPrefix("/") }
      .map { "\($0)/larder/\(name)" }
  }
}
