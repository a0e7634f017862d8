import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// The built program, from outside: what it prints where, and its exit code.
@Suite struct ProgramTests {
  private let folder: TemporaryFolder
  private var store: String { folder.url.path + "/my store" }

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await Outcome(of: ["larder-lego"] + arguments)
  }

  @Test func `the sample goes in, with a table of what happened and ways to look at it`()
    async throws
  {
    let first = try await run("import", Folders.sample, "--store", store)
    #expect(first.code == 0)
    #expect(first.error == "", "no progress where nobody watches")
    let lines = first.output.split(separator: "\n").map(String.init)
    #expect(
      lines[0].split(separator: " ") == ["added", "changed", "renewed", "unchanged", "removed"])
    #expect(lines[4].split(separator: " ") == ["parts", "101", "0", "0", "0", "0"])
    #expect(lines[8].split(separator: " ") == ["total", "451", "0", "0", "0", "0"])
    #expect(lines.contains { $0.hasPrefix("451 entities in ") })
    #expect(lines.contains("  larder '\(store)' -e namespaces"))

    let second = try await run("import", Folders.sample, "--store", store)
    let total = second.output.split(separator: "\n").first { $0.hasPrefix("total") }
    #expect(total?.split(separator: " ") == ["total", "0", "0", "0", "451", "0"])

    let lego = try LegoCache(at: store)
    #expect(try lego.count() == 451)
    #expect(try lego.cached(Part.self, key: "3001")?.name == "Brick 2 x 4")
    #expect(
      try lego.larder.namespaces().first { $0.name == "lego.sets" }?.rules.expires
        == .after(.hours(24)))
    try lego.larder.close()
  }

  @Test func `a summary for programs`() async throws {
    _ = try folder.write("themes.csv", Array("id,name,parent_id\n1,Technic,\n3,Race,1\n".utf8))
    let outcome = try await run(
      "import", folder.url.path, "--store", store, "--only", "themes", "colors", "--json")
    #expect(outcome.code == 0 && outcome.error == "")
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    #expect(summary.total == ImportReport.Tally(added: 2))
    #expect(summary.kinds.map(\.namespace) == ["lego.themes"])
    #expect(summary.omitted.map(\.namespace) == ["lego.colors"])
    #expect(summary.omitted.map(\.reason) == [.absent])
    #expect(summary.store.hasSuffix("/my store") && summary.seconds > 0)
  }

  @Test func `lifetimes can be chosen`() async throws {
    let outcome = try await run(
      "import", Folders.sample, "--store", store, "--lifetimes", "never", "--only", "sets")
    #expect(outcome.code == 0)
    let lego = try Store(at: store)
    #expect(try lego.namespaces().map(\.rules.expires) == [.never])
    try lego.close()
  }

  @Test func `an entity is shown as JSON, with the key as it was written`() async throws {
    _ = try await run("import", Folders.sample, "--store", store)
    let part = try await run("show", "parts", "3001", "--store", store)
    #expect(part.code == 0 && part.error == "")
    #expect(
      try JSONDecoder().decode(Part.self, from: Data(part.output.utf8))
        == Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11))
    let color = try await run("show", "colors", "--store", store, "--", "-1")
    #expect(color.output.contains("\"[Unknown]\""))
    let pair = try await run("show", "lego.partcolors", "2445/322", "--store", store)
    #expect(pair.code == 0 && pair.output.contains("\"Medium Azure\""))
  }

  @Test func `an absent entity is exit code 1 and a way to find others`() async throws {
    _ = try await run("import", Folders.sample, "--store", store)
    let outcome = try await run("show", "parts", "no such", "--store", store)
    #expect(outcome.code == 1 && outcome.output == "")
    #expect(outcome.error.hasPrefix("error: there is no no such in parts\nhint: larder '"))
  }

  @Test(arguments: [
    [], ["frobnicate"], ["import"], ["import", "x"], ["show", "colours", "1", "--store", "x"],
    ["import", "/absent folder", "--store", "x"], ["import", "/", "--store", "x"],
  ])
  func `wrong usage is exit code 2, with the reason on standard error`(arguments: [String])
    async throws
  {
    let outcome = try await Outcome(of: ["larder-lego"] + arguments)
    if arguments.isEmpty {
      #expect(outcome.code == 0 && outcome.output.contains("USAGE"))
    } else {
      #expect(outcome.code == 2 && outcome.output == "")
      #expect(outcome.error.lowercased().hasPrefix("error: "))
    }
  }

  @Test func `a store that cannot be opened is exit code 3`() async throws {
    let absent = try await run("show", "parts", "3001", "--store", store)
    #expect(absent.code == 3 && absent.error.hasPrefix("error: there is no store at "))
    #expect(!FileManager.default.fileExists(atPath: store), "looking makes nothing")
    let file = try folder.write("file", Array("text".utf8))
    let other = try await run("import", Folders.sample, "--store", file)
    #expect(other.code == 3 && other.output == "" && other.error.contains("\nhint: "))
  }

  @Test func `a broken table is exit code 4 and says where`() async throws {
    _ = try folder.write("themes.csv", Array("id,name,parent_id\n1,Technic,\nx,Race,1\n".utf8))
    let outcome = try await run("import", folder.url.path, "--store", store)
    #expect(outcome.code == 4 && outcome.output == "")
    #expect(outcome.error.hasPrefix("error: themes.csv:3: id: \"x\" is not a number\nhint: "))
  }

  @Test(.enabled(if: Outcome.canFakeTerminal, "skipped: no script command"))
  func `at a terminal it tells how far it is, and leaves the line empty`() async throws {
    let rows = (0..<3000).map { "\($0),Theme \($0),\n" }.joined()
    _ = try folder.write("themes.csv", Array(("id,name,parent_id\n" + rows).utf8))
    let outcome = try await Outcome(
      atTerminal: ["larder-lego", "import", folder.url.path, "--store", store])
    #expect(outcome.code == 0)
    let pieces = outcome.output.components(separatedBy: "\r\u{1B}[K")
    #expect(pieces.count >= 3)
    #expect(pieces[1].hasPrefix("themes      [####################"))
    #expect(pieces[1].contains("/s") && pieces[1].hasSuffix(" left"))
    #expect(pieces.last?.contains("themes  3,000        0") == true)
  }
}
