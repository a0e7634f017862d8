import Foundation

/// Runs `body` with a private directory, and removes the directory afterwards.
package func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = try TemporaryDirectory()
  return try withExtendedLifetime(directory) { try body(directory.path) }
}

/// A private directory with a new name, removed with the last reference to it.
package final class TemporaryDirectory: Sendable {
  package let path = TemporaryDirectory.unusedPath

  package init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// A path in the system's temporary directory at which no file exists.
  package static var unusedPath: String {
    URL(fileURLWithPath: NSTemporaryDirectory()).path + "/larder-" + UUID().uuidString
  }

  // Ignores errors: a test may have removed the directory itself.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
