import Foundation
import TestSupport

/// The documents of the package.
enum Documents {
  /// The paths of all Markdown files outside `.build`, `Tests` and `Sources`.
  static func pages() throws -> [String] {
    var pages = try names(in: "").filter { $0.hasSuffix(".md") }
    for folder in ["Docs", "Examples"] {
      for name in try names(in: folder) where !name.hasPrefix(".") {
        if name.hasSuffix(".md") { pages.append("\(folder)/\(name)") }
        pages += try names(in: "\(folder)/\(name)").filter { $0.hasSuffix(".md") }
          .map { "\(folder)/\(name)/\($0)" }
      }
    }
    return pages.sorted()
  }

  /// The names in a folder; none if the path is that of a file.
  private static func names(in folder: String) throws -> [String] {
    let url = Repository.root.appendingPathComponent(folder)
    guard try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: url.path)
  }

  /// The paths of the articles in the folders `.docc` of the libraries.
  static func articles() throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(
      atPath: Repository.root.appendingPathComponent("Sources").path)
    return paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/" + $0 }
  }
}
