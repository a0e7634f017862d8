import Foundation

/// Figures of a process from Linux; nil on other systems.
enum ProcessFigures {
  /// The bytes of resident memory: memory of the process itself, and pages of mapped files.
  static func memory(of process: Int32) -> (own: Int, mapped: Int)? {
    guard let own = number("RssAnon", in: "/proc/\(process)/status"),
      let mapped = number("RssFile", in: "/proc/\(process)/status")
    else { return nil }
    return (own * 1024, mapped * 1024)
  }

  /// The bytes that the process has passed to `write`, and the bytes of the page cache that the process has changed. The kernel
  /// counts both.
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
