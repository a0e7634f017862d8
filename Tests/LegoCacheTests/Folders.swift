import Foundation

/// Folders outside the code that tests read.
enum Folders {
  /// The sample that is part of the repository.
  static let sample = repository.appending(path: "Examples/Lego/Sample").path

  /// Recorded answers and whole dumps, too large for the repository. They are where `LARDER_SHARED` says, or in a folder
  /// `shared` beside the repository or above it; without them the tests that need them are skipped.
  static let shared: URL? = {
    if let told = ProcessInfo.processInfo.environment["LARDER_SHARED"] {
      return URL(filePath: told)
    }
    var folder = repository
    while folder.path != "/" {
      folder = folder.deletingLastPathComponent()
      let candidate = folder.appending(path: "shared")
      if FileManager.default.fileExists(atPath: candidate.appending(path: "data/lego").path) {
        return candidate
      }
    }
    return nil
  }()

  static let hasShared = shared != nil

  static func sharedLego(_ path: String) throws -> URL {
    guard let shared else { throw CocoaError(.fileNoSuchFile) }
    return shared.appending(path: "data/lego").appending(path: path)
  }

  private static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

/// A folder that lasts as long as this does.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "lego-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let file = url.appending(path: name)
    try Data(bytes).write(to: file)
    return file.path
  }

  deinit {
    do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(error)") }
  }
}
