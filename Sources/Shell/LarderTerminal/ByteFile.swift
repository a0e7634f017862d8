#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file on a disk, a named pipe or a device. The file is read or written in pieces. A new file on a disk replaces the old
/// file only when the new file is complete, so that a failed write loses nothing. Pipes, devices and files to which bytes are
/// appended are written in place. For a link, these rules apply to its target.
package final class ByteFile {
  private var descriptor: Int32 = -1
  private var stream: Terminal.Stream { Terminal.Stream(descriptor: descriptor) }
  private var path: String
  /// The temporary file that holds the bytes until the file is complete.
  private var unfinished: String?
  private var replaces = true

  /// Opens a file to read. A pipe can be opened before the pipe has a writer.
  package init(reading path: String) throws(TerminalError) {
    self.path = path
    // If standard input was closed at the start, its descriptor is a placeholder that can only be written, so a read must fail.
    if ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(path),
      fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE == O_WRONLY
    {
      throw .failed(operation: "read", code: EBADF)
    }
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    try check(descriptor >= 0, "open")
  }

  /// The user who owns a file or directory. Nil if the path does not exist, or if the owner is the user of this process.
  package static func otherOwner(of path: String) -> UInt32? {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_uid != geteuid() ? status.st_uid : nil
  }

  /// The size in bytes of a file on a disk. Nil for a pipe or a device.
  package var size: Int? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return Int(status.st_size)
  }

  /// Creates a file to write. If a file exists: with `replaces`, the complete new file replaces it; otherwise throws `EEXIST`. A
  /// value may be private, so only the owner can read a new file.
  ///
  /// - Parameter owner: The owner of the new file if it replaces a file of another user.
  package init(
    writing path: String, replaces: Bool, owner: (user: UInt32, group: UInt32)? = nil
  ) throws(TerminalError) {
    self.path = path
    self.replaces = replaces
    var status = stat()
    if unsafe stat(path, &status) != 0 {
      // The path may be a link whose target is missing. The caller has not allowed a new file at the target.
      if unsafe lstat(path, &status) == 0 { throw .failed(operation: "open", code: ENOENT) }
      try openBeside()
    } else if let open = Self.openDescriptor(of: path, status) {
      descriptor = fcntl(open, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      try check(descriptor >= 0, "open")
    } else if status.st_mode & S_IFMT != S_IFREG {
      try openInPlace()
    } else {
      guard replaces else { throw .failed(operation: "open", code: EEXIST) }
      guard let target = unsafe realpath(path, nil) else {
        throw .failed(operation: "open", code: errno)
      }
      defer { unsafe free(target) }
      self.path = unsafe String(cString: target)
      try openBeside()
      if let owner { try check(fchown(descriptor, owner.user, owner.group) == 0, "chown") }
      _ = fchmod(descriptor, status.st_mode & 0o777)
    }
  }

  /// The open descriptor of this process that the path means: `/dev/stderr`, `/dev/fd/3`, or a link to the file of standard
  /// output or error. If the file of a descriptor were opened a second time, writes would overwrite its content.
  private static func openDescriptor(of path: String, _ status: stat) -> Int32? {
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    var link = stat()
    guard unsafe lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK else { return nil }
    return [STDOUT_FILENO, STDERR_FILENO].first { descriptor in
      var open = stat()
      return unsafe fstat(descriptor, &open) == 0
        && (open.st_dev, open.st_ino) == (status.st_dev, status.st_ino)
    }
  }

  /// Opens a temporary file beside the complete file. A killed process may have left such a file, so the name is partly random.
  private func openBeside() throws(TerminalError) {
    // A name has at most 255 bytes. The first 50 characters need at most 200 bytes, so the random part also fits.
    let scalars = path.unicodeScalars
    let start = scalars.lastIndex(of: "/").map { scalars.index(after: $0) } ?? path.startIndex
    let base = String(String.UnicodeScalarView(scalars[start...].prefix(50)))
    while true {
      let name =
        String(path[..<start]) + base + ".\(String(UInt32.random(in: 0 ... .max), radix: 36)).part"
      descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        unfinished = name
        return
      }
      try check(errno == EEXIST, "open")
    }
  }

  /// Opens a file to append bytes. If the file is missing, creates a file that only the owner can read.
  package init(appendingTo path: String) throws(TerminalError) {
    self.path = path
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      try openInPlace()
    } else {
      descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      try check(descriptor >= 0, "open")
    }
  }

  /// Opens a pipe or a device. Waits until a pipe has a reader.
  private func openInPlace() throws(TerminalError) {
    while true {
      descriptor = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK)
      if descriptor >= 0 { break }
      let code = errno
      var status = stat()
      let isPipe = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
      guard code == ENXIO, isPipe else { throw .failed(operation: "open", code: code) }
      guard !Interrupts.isPending else { throw .failed(operation: "open", code: EINTR) }
      usleep(20_000)
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
  }

  package static func privateDirectory(in parent: String) throws(TerminalError) -> String {
    var template = Array("\(parent)/larder-XXXXXX".utf8CString)
    try unsafe check(mkdtemp(&template) != nil, "mkdtemp")
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Waits for the next bytes. The result is empty at the end, and nil if ^C came first.
  package func read() throws(TerminalError) -> [UInt8]? { try Terminal.next(from: stream) }

  package func write(_ bytes: Span<UInt8>) throws(TerminalError) {
    try Terminal.write(bytes, to: stream)
  }

  /// Moves the complete temporary file to the place of the file. Without `replaces`, throws `EEXIST` if a file is there by now.
  package func finish() throws(TerminalError) {
    guard let unfinished else { return closeDescriptor() }
    try check(fsync(descriptor) == 0, "write")
    // If another process has made the file, `link` fails, and `rename` would replace the file. Some file systems have no links.
    if unsafe replaces || link(unfinished, path) != 0 {
      try unsafe check((replaces || errno != EEXIST) && rename(unfinished, path) == 0, "write")
    } else {
      _ = unsafe unlink(unfinished)
    }
    self.unfinished = nil
    closeDescriptor()
  }

  private func closeDescriptor() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  deinit {
    if let unfinished { _ = unsafe unlink(unfinished) }
    closeDescriptor()
  }
}
