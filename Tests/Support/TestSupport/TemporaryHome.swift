import Foundation

/// The path of a directory of its own for each test. The test makes the directory.
package final class TemporaryHome {
  package let path: String

  package init() {
    path = TemporaryDirectory.unusedPath
  }

  package func write(_ text: String, to name: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
