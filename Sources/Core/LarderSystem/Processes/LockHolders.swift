import CLarderSystem

package enum LockHolders {
  /// The processes that hold a lock on the file, without this process and the processes of other containers. The result may
  /// contain a process that locks a file on another disk with an equal inode number. Always empty on macOS, which has no `/proc`.
  ///
  /// A line of `/proc/locks` is `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`. Here 1234 is the process and 5678 the inode.
  package static func processes(holding path: String) -> [Int32] {
    guard let status = FileStatus.of(path), let locks = text(of: "/proc/locks") else { return [] }
    let found = locks.split(separator: "\n").compactMap { line -> Int32? in
      let words = line.split(separator: " ")
      guard words.count >= 6, ["FLOCK", "POSIX"].contains(words[1]),
        words[5].split(separator: ":").last == "\(status.st_ino)",
        let process = Int32(words[4]), process > 0, process != getpid()
      else { return nil }
      return process
    }
    return Set(found).sorted()
  }

  /// The number and the name of a process, such as `1234 (larder)`; only the number if the system does not tell the name.
  package static func description(of process: Int32) -> String {
    guard let name = text(of: "/proc/\(process)/comm")?.split(separator: "\n").first else {
      return "\(process)"
    }
    return "\(process) (\(name))"
  }

  /// The text of a file in `/proc`, where files seem to have the size 0. Nil if the file cannot be read.
  private static func text(of path: String) -> String? {
    let bytes = try? FileDescriptor(opening: path, O_RDONLY).contents(at: 0, count: 1 << 18)
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}
