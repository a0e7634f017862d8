import Foundation
import PackagePlugin

/// Lets `DocumentTests` call the programs of all pages, and lets the tests of an example call the programs of its page. The
/// type `Programs` of the tests declares the names that the programs use, in the file `Programs.swift` of `DocumentTests` and
/// the file `Fixture.swift` of an example. Tests without that file get no programs.
@main struct PagePrograms: BuildToolPlugin {
  /// Pages whose programs need other packages or are run from outside.
  private static let others = ["Use/Fleet.md", "Learn/Tutorial.md"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let isOfAll = target.name == "DocumentTests"
    let members = target.directoryURL.appending(path: isOfAll ? "Programs.swift" : "Fixture.swift")
    guard FileManager.default.fileExists(atPath: members.path) else { return [] }
    let examples = context.package.directoryURL
    let root = examples.deletingLastPathComponent()
    var pages = [target.directoryURL.deletingLastPathComponent().appending(path: "README.md")]
    if isOfAll {
      pages = try ["Docs", "Sources"].map { root.appending(path: $0) }.flatMap { folder in
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
          .filter { $0.hasSuffix(".md") && !Self.others.contains($0) }.sorted()
          .map { folder.appending(path: $0) }
      }
    }
    let server = examples.appending(path: "Server/Tests/ServerTests/ServerPages.swift")
    let files = [members, server] + pages
    let output = context.pluginWorkDirectoryURL.appending(path: "PagePrograms.swift")
    return [
      .buildCommand(
        displayName: "The programs of the pages for \(target.name)",
        executable: try context.tool(named: "page-programs").url,
        arguments: [root.path + "/", output.path] + files.map(\.path), inputFiles: files,
        outputFiles: [output])
    ]
  }
}
