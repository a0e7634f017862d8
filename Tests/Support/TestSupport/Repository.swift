package import Foundation

package enum Repository {
  /// The folder of the library's `Package.swift`.
  package static let root: URL = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.appending(path: "CHANGELOG.md").path) {
      precondition(folder.path != "/", "the tests do not lie in the repository")
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  package static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
