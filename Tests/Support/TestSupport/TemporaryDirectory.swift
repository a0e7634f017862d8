package import Foundation

/// Runs `body` with a private directory, and removes the directory afterwards.
package func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = TemporaryDirectory()
  return try withExtendedLifetime(directory) { try body(directory.path) }
}

/// A private directory with a new name. The release of the last reference to this object removes the directory.
package final class TemporaryDirectory: Sendable {
  package let path = TemporaryDirectory.unusedPath

  package init() {
    // Ignores an error, because the first use of a missing directory fails anyway.
    try? makePrivateDirectory(path)
  }

  /// A path in the system's temporary directory at which no file exists.
  package static var unusedPath: String {
    URL(fileURLWithPath: NSTemporaryDirectory()).path + "/larder-" + UUID().uuidString
  }

  package func write(_ text: String, to name: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
  }

  /// Copies the listed files of `store`. Each of these files must exist. Overwrites files of the target that have these names.
  package func copy(
    _ files: [String] = ["data.mdb", "recovery"], from store: String = "store", to target: String
  ) throws {
    let manager = FileManager.default
    let target = path + "/" + target
    if !manager.fileExists(atPath: target) { try makePrivateDirectory(target) }
    for file in files {
      try? manager.removeItem(atPath: target + "/" + file)
      try manager.copyItem(atPath: "\(path)/\(store)/\(file)", toPath: target + "/" + file)
    }
  }

  // Ignores errors: a test may have removed the directory itself.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

package func permissions(of path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

package func makePrivateDirectory(_ path: String) throws {
  try FileManager.default.createDirectory(
    atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
}

/// Makes a file that only its owner may use. Replaces an existing file.
package func makePrivateFile(_ path: String, _ contents: Data = Data()) throws {
  try? FileManager.default.removeItem(atPath: path)
  let isMade = FileManager.default.createFile(
    atPath: path, contents: contents, attributes: [.posixPermissions: 0o600])
  if !isMade { throw CocoaError(.fileWriteUnknown) }
}
