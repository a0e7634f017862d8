public import Foundation

/// Folders of test data.
public enum Folders {
  /// The folder `Examples` of the repository.
  public static let examples = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Recorded answers and whole dumps, too large for the repository: in the folder `LARDER_SHARED`, or in a folder
  /// `shared` beside the repository or above it; without them the tests that need them are skipped.
  public static let shared: URL? = {
    if let told = ProcessInfo.processInfo.environment["LARDER_SHARED"] {
      return URL(filePath: told)
    }
    var folder = examples.deletingLastPathComponent()
    while folder.path != "/" {
      folder = folder.deletingLastPathComponent()
      let candidate = folder.appending(path: "shared")
      if FileManager.default.fileExists(atPath: candidate.appending(path: "data/lego").path) {
        return candidate
      }
    }
    return nil
  }()

  public static let hasShared = shared != nil

  /// A file or folder of the recorded data, `lego/api/colors.json`.
  public static func shared(_ path: String) throws -> URL {
    guard let shared else { throw CocoaError(.fileNoSuchFile) }
    return shared.appending(path: "data").appending(path: path)
  }
}

/// A folder that is removed with this object.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  public func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let file = url.appending(path: name)
    try Data(bytes).write(to: file)
    return file.path
  }

  deinit {
    do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(error)") }
  }
}
