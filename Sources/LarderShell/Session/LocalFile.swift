#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file that a command names.
package struct LocalFile {
  package let path: String

  package init(_ bytes: [UInt8]) throws(ShellError) {
    guard let path = String(validating: bytes, as: UTF8.self), !path.isEmpty,
      !path.utf8.contains(0)
    else {
      throw ShellError(
        .usage, "\(bytes) is not the name of a file", hint: "say where: ./value.json")
    }
    self.path = path
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  package func read() throws(ShellError) -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch {
      throw failure("read", error)
    }
  }

  /// Replaces what was there. In place, because it may be a device.
  func write(_ bytes: [UInt8]) throws(ShellError) {
    do {
      try Data(bytes).write(to: URL(filePath: path))
    } catch {
      throw failure("written", error)
    }
  }

  private func failure(_ verb: String, _ error: any Error) -> ShellError {
    let reason =
      switch (error as? CocoaError)?.code {
      case .fileReadNoSuchFile?, .fileNoSuchFile?: "there is no such file"
      case .fileReadNoPermission?, .fileWriteNoPermission?: "it is not permitted"
      case .fileWriteOutOfSpace?: "the disk is full"
      case .fileReadTooLarge?: "it is too large"
      default: "the system failed"
      }
    return ShellError(
      .io, "\(Array(path.utf8)) cannot be \(verb): \(reason)",
      hint: "files are named from where the shell was started")
  }
}
