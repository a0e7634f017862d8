import Foundation

/// A directory of its own for each test, removed with the last reference to it.
package final class TemporaryHome {
  package let path: String

  package init() {
    path = TemporaryDirectory.unusedPath
    // A failure shows at the first use of the directory.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  package func write(_ text: String, to name: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
