import ExampleTesting

@testable import LegoCache

/// Imports by the program.
extension ProgramTests {
  @Test func `the sample is imported, with a table and closing lines`() async throws {
    let first = try await program.run("import", Folders.sample)
    #expect(first.code == 0 && first.error == "")
    let lines = first.output.split(separator: "\n").map(String.init)
    #expect(
      lines[0].split(separator: " ") == ["added", "changed", "renewed", "unchanged", "removed"])
    #expect(lines[4].split(separator: " ") == ["parts", "101", "0", "0", "0", "0"])
    #expect(lines[8].split(separator: " ") == ["total", "451", "0", "0", "0", "0"])
    #expect(lines.contains("  larder '\(store)' -e namespaces"))
    let unknown = try await Outcome(of: [
      "larder-lego", "fetch", "colors", "--no-network", "--store", store, "--", "-1",
    ])
    #expect(unknown.output.contains("\"[Unknown]\""))
  }

  @Test func `an import lists skipped rows and says where it stopped`() async throws {
    try write("colors", "id,name,rgb,is_trans\n0,Black,05131D,f\n1,Blue\n\"2,Green,237841,f\n")
    try write("parts", "part_num,name,part_cat_id\n3001,Brick,11\n")
    try write("elements", "element_id,part_num,color_id\n1,3001,0\n2,gone,0\n")
    let folder = program.folder.url.path
    let skipped = try await program.run("import", folder)
    #expect(skipped.code == 0)
    #expect(
      skipped.output.contains("elements: 1 fault\n  elements.csv:3: no part \"gone\"\n"))
    let report = try await program.answer(Summary.self, "import", folder).report
    #expect(report.skipped.mapValues(\.count) == [.colors: 2, .elements: 1, .partColors: 1])
    #expect(report.failure == nil && report.skipped[.colors]?.areUnreadable == true)
    #expect(
      skipped.output.contains(
        """
        colors: 2 faults
          colors.csv:3: 2 fields, but the first row names 4 columns
          colors.csv:4:1: a quote that is never closed
        colors: nothing was removed, because some rows cannot be read

        """), "\(skipped)")
    try write("themes", "id;name;parent_id\n1;Technic;\n")
    let broken = try await program.run("import", folder)
    #expect(broken.code == 4)
    #expect(broken.error.hasPrefix("error: themes.csv:1: no column \"id\"\nhint: "))
    #expect(broken.output.contains("themes: stopped after 0 entities"))
    #expect(broken.output.contains("parts left alone: it stopped before them"))
    #expect(
      broken.output.contains("sets left alone: ") && !broken.output.contains("sets left alone: it"))
  }

  private func writeThemes(_ count: Int, ofBytes size: Int) throws {
    let name = String(repeating: "x", count: size)
    try write("themes", "id,name,parent_id\n" + (0..<count).map { "\($0),\(name),\n" }.joined())
  }

  @Test func `an import that does not fit into the store is refused before it begins`() async throws
  {
    try await program.check("fetch part 3001 --offline | part 3001: from the service")
    let folder = program.folder.url.path
    try writeThemes(8000, ofBytes: 900)
    let refused = try await program.run("import", folder)
    #expect(refused.code == 5 && refused.output == "")
    #expect(
      refused.error == """
        error: \(folder) needs about 17 MB, and the store is limited to 10 MB; nothing was changed
        hint: raise the limit and run it again: larder '\(store)' -e 'limits --disk 25MB'

        """)
    #expect(try await Outcome(line: "larder '\(store)' -e 'limits --disk 25MB'").code == 0)
    let whole = try await program.answer(Summary.self, "import", folder)
    #expect(whole.stored[.themes] == 8000 && whole.limit == 25_000_000)
    try await program.check("fetch part 3001 --offline --no-network | part 3001: from the store")
  }

  @Test func `an import that does not fit after all tells it, with exit code 4`() async throws {
    let lego = try Store(at: store)
    try lego.declare(StoreLimits(disk: 4_000_000))
    try lego.close()
    // The room is estimated, and a small file keeps much of it free.
    try writeThemes(1700, ofBytes: 1000)
    let cut = try await program.run("import", program.folder.url.path)
    #expect(cut.code == 4 && cut.error.hasPrefix("error: not all is stored, because the file"))
    #expect(cut.output.contains("stored, because the file is limited to 4 MB\n"), "\(cut)")
    #expect(try fileSize(store) <= 4_000_000)
  }
}
