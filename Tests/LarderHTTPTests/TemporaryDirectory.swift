import Foundation

/// A directory that is removed with the last reference to it.
final class TemporaryDirectory {
  let path = NSTemporaryDirectory() + "/larder-http-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
