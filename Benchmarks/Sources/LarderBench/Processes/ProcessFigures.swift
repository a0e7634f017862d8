import Foundation

/// What Linux tells about a process; nil elsewhere.
enum ProcessFigures {
  /// Bytes of resident memory: the process's own, and pages of files it has mapped.
  static func memory(of process: Int32) -> (own: Int, mapped: Int)? {
    guard let own = number("RssAnon", in: "/proc/\(process)/status"),
      let mapped = number("RssFile", in: "/proc/\(process)/status")
    else { return nil }
    return (own * 1024, mapped * 1024)
  }

  /// Bytes the process has handed to `write`, and bytes of the disk's cache that the kernel accounts to it as dirtied.
  static func written(by process: Int32) -> (handed: Int, accounted: Int)? {
    guard let handed = number("wchar", in: "/proc/\(process)/io"),
      let accounted = number("write_bytes", in: "/proc/\(process)/io")
    else { return nil }
    return (handed, accounted)
  }

  private static func number(_ name: String, in file: String) -> Int? {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace).first.flatMap {
        Int($0)
      }
    }
    return nil
  }
}
