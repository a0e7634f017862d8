import Foundation

/// The documents of the package.
enum Documents {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The paths of all Markdown files outside `.build`, `Tests` and `Sources`.
  static func pages() throws -> [String] {
    var pages: [String] = []
    for folder in ["", "Docs", "Docs/Decisions", "Examples"] {
      let url = root.appendingPathComponent(folder)
      let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
      pages += names.filter { $0.hasSuffix(".md") }.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
      guard folder == "Examples" else { continue }
      pages += names.map { "Examples/\($0)/README.md" }.filter {
        FileManager.default.fileExists(atPath: root.appendingPathComponent($0).path)
      }
    }
    return pages.sorted()
  }

  /// The paths of the articles in the folders `.docc` of the libraries.
  static func articles() throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(
      atPath: root.appendingPathComponent("Sources").path)
    return paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/" + $0 }
  }
}
