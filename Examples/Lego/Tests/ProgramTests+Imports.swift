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

  /// `make run` fills its store from these lines.
  @Test func `larder import of the recorded entities stores what the program stores`() async throws
  {
    let lines = Folders.sample + "/entities.jsonl"
    let imported = try await Outcome(line: "larder '\(store)' --create -e 'import \(lines)'")
    #expect(imported.code == 0, "\(imported)")
    let again = try await program.answer(Summary.self, "import", Folders.sample)
    #expect(again.report.tallies.values.reduce(0) { $0 + $1.unchanged } == 451)
    let expiring = try await Outcome(line: "larder '\(store)' -e 'count @* --expiring 31d'")
    #expect(expiring.output.hasPrefix("387\t"), "\(expiring)")
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

  private func writeThemes(_ count: Int, ofBytes size: Int, _ character: String = "x") throws {
    let name = String(repeating: character, count: size)
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
        error: \(folder) needs about 19 MB, and the store is limited to 10 MB; nothing was changed
        hint: raise the limit and run it again: larder '\(store)' -e 'limits --disk 25MB'

        """)
    #expect(try await Outcome(line: "larder '\(store)' -e 'limits --disk 25MB'").code == 0)
    let whole = try await program.answer(Summary.self, "import", folder)
    #expect(whole.stored[.themes] == 8000 && whole.limit == 25_000_000)
    try await program.check("fetch part 3001 --offline --no-network | part 3001: from the store")
  }

  @Test func `an import that does not fit beside other kinds is refused`() async throws {
    let lego = LegoCache(try Store(at: store))
    try lego.larder.declare(StoreLimits(disk: 4_000_000))
    let name = String(repeating: "x", count: 1000)
    try lego.keep((0..<1500).map { ModelSet(setNum: "\($0)-1", name: name) })
    try writeThemes(900, ofBytes: 1000)
    let folder = program.folder.url.path
    try await program.check(
      "import '\(folder)' = 5 | ! ^error: \(folder) needs about 5 MB, and the store is limited to 4 MB; nothing was changed_"
    )
    #expect(try lego.count(of: .sets) == 1500 && lego.count() == 1500)
    try lego.larder.close()
  }

  @Test func `a refresh that evicts other kinds names them, with exit code 4`() async throws {
    try await FakeRebrickable.run { fake in
      let lego = LegoCache(try Store(at: store))
      let realm = Realm(base: fake.base, credential: "k")
      try lego.larder.declare(StoreLimits(disk: 4_000_000))
      let name = String(repeating: "x", count: 1000)
      for realm in [Realm.open, realm] {
        let cache = LegoCache(lego.larder, realm: realm)
        try cache.keep((0..<700).map { ModelSet(setNum: "\($0)-1", name: name) })
      }
      try lego.larder.close()
      fake.change { $0.lists["/lego/parts/"] = (0..<1500).map { Body.part("p\($0)", name) } }
      let cut = try await program.run("refresh", "parts", "--base", fake.base, "--key", "k")
      #expect(cut.code == 4 && cut.error.hasPrefix("error: not all is stored, because the file"))
      for kind in ["sets", "lego.sets"] {
        let end = " of those stored before were evicted, because the file is limited to 4 MB"
        let lines = cut.output.split(separator: "\n").filter { $0.hasSuffix(end) }
        #expect(lines.contains { $0.hasPrefix("\(kind): ") }, "\(cut)")
      }
    }
  }

  @Test func `an import that does not fit after all tells it, with exit code 4`() async throws {
    let lego = try Store(at: store)
    try lego.declare(StoreLimits(disk: 4_000_000))
    try lego.close()
    // The room is estimated, and such a character takes six bytes in JSON.
    try writeThemes(1000, ofBytes: 550, "\u{1}")
    let cut = try await program.run("import", program.folder.url.path)
    #expect(cut.code == 4 && cut.error.hasPrefix("error: not all is stored, because the file"))
    #expect(
      cut.output.contains(" of 1,000 stored, because the file is limited to 4 MB\n"), "\(cut)")
    #expect(try fileSize(store) <= 4_000_000)
  }
}
