import Foundation

/// The path of a directory for one test.
struct TestDirectory: Sendable {
  let text: String

  static func temporary() -> TestDirectory {
    TestDirectory(
      text: FileManager.default.temporaryDirectory.path + "/larder-proxy-" + UUID().uuidString)
  }

  var exists: Bool { FileManager.default.fileExists(atPath: text) }

  func remove() throws { try FileManager.default.removeItem(atPath: text) }
}
