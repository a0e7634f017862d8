import ExampleTesting

@testable import LegoCache

/// The built program, from outside: what it prints where, and its exit code.
@Suite struct ProgramTests {
  let program: TestedProgram
  var store: String { program.store }
  init() throws { program = try TestedProgram("larder-lego", store: "my store") }

  /// The JSON of `import` and `refresh`.
  struct Summary: Decodable {
    var report: ImportReport
    var stored: [EntityKind: Int]
    var limit: Int?
  }

  func write(_ table: String, _ text: String) throws {
    _ = try program.folder.write(table + ".csv", Array(text.utf8))
  }

  // MARK: fetch and list

  @Test(arguments: [
    ("color", "4"), ("theme", "4"), ("category", "11"), ("part", "5102c01.875"), ("set", "10294-1"),
    ("minifig", "fig-000018"), ("element", "300121"), ("partcolor", "3001/4"),
  ]) func `an entity is fetched once, and stored for the next process`(
    kind: String, key: String
  ) async throws {
    let name = kind == "minifig" ? "set" : kind
    let first = try await program.run("fetch", kind, key, "--offline")
    #expect(first.code == 0 && first.error == "" && first.output.hasPrefix("{\n"))
    #expect(first.output.contains("\n\(name) \(key): from the service\n"))
    let answers = try await program.lastAnswers(of: first)
    #expect(answers.count == 4 && !answers.contains("") && answers[0].hasPrefix("{"))
    let stored = try await program.run("fetch", kind, key, "--offline", "--no-network")
    #expect(stored.output.contains("\n\(name) \(key): from the store, "))
    let json = try await program.run("fetch", kind, key, "--offline", "--reload", "--json")
    #expect(json.output.contains(#""key":"\#(key)","source":"loaded""#))
  }

  @Test func `of several keys those that are found are printed`() async throws {
    try await program.check(
      """
      fetch part 3001 nope 3941 no --offline = 1 | "3001" | _part 3941: from | ! ^error: there are no parts nope, no_hint:
      fetch part 3001 nope --offline = 1         | _part 3001: from the store | ! ^error: there is no part nope_hint:
      fetch part 1 3001 --offline --no-network = 4 | _part 3001: from the store | ! ^error: the service cannot be reached
      """)
  }

  @Test func `lists of names, inventories and colours, and errors`() async throws {
    try await program.check(
      """
      list sets table --offline              | from the service_
      list minifigs table --offline --json   | "source":"loaded"
      list parts brick --offline             | ^3001        Brick 2 x 4_ | 4 of 4, from the service_
      list parts brick --offline --no-network | 4 of 4, from the store,
      list parts brick --offline --no-network --json | "source":"disk"
      list inventory 10294-1 --offline       | ^12 x        3001        Red Brick 2 x 4_ | 2 of 2
      list colors-of 3001 --offline          | ^4           Red         433 sets_ | 2 of 2
      list inventory 1-1 --offline = 1       | ! error: the service answered 404
      list parts "" --offline = 2            | ! invalid
      fetch part nosuch --offline = 1        | ! ^error: there is no part nosuch_ | ! hint: the recording
      fetch part .. --offline = 2            | ! ^error: ".." is no key of parts_
      fetch color 04 --offline = 2           | ! ^error: "04" is no key of colors_hint: say 4_
      fetch partcolor 3001/04 --offline = 2  | ! ^error: "3001/04" is no part and colour_
      fetch colours 1 = 2                    | ! ^Error:
      import = 2                             | ! ^Error:
      import '' = 2                          | ! invalid
      fetch part ' ' --offline = 2           | ! invalid
      import '/absent folder' = 2            | ! ^error: /absent folder has neither
      refresh colors --page-size 0 = 2       | ! pages of 0 are not possible
      """)
  }

  @Test func `a key has a realm of its own, which uses imported entities`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, "Mine"), at: "/lego/colors/4/")
      let mine = "--base \(fake.base) --key secret"
      try await program.check(
        """
        import \(Folders.sample)   | 451 entities in
        fetch color 4 \(mine)      | "Red"
        """)
      #expect(fake.server.count == 0)
      let reloaded = try await program.run(
        ["fetch", "color", "4", "--reload"] + mine.split(separator: " ").map(String.init))
      let first = try #require(reloaded.suggestions.first)
      #expect(first.contains("get @lego.colors.") && !first.contains("secret"))
      #expect(try await Outcome(line: first).output.contains("Mine"))
      fake.refuse(403, #"{"detail": "Invalid credentials"}"#)
      try await program.check(
        """
        fetch color 5555 \(mine) = 5         | ! ^error: the service answered 403: Invalid credentials_hint: give a valid credential: --key or
        fetch color 4 \(mine) --no-network   | "Mine"
        fetch color 4 --no-network           | "Red"
        """)
    }
  }

  @Test func `an import beside another, or beside a refresh, is refused as busy`() async throws {
    _ = try await program.run("import", Folders.sample)
    let other = try Store(at: store)
    do {
      let lock = try StoreLock(of: other)
      try await program.check(
        """
        import \(Folders.sample) = 4  | ! ^error: another import or a refresh of | ! runs_hint: run it again
        refresh colors --offline = 4   | ! ^error: another import of | ! runs_hint: run it again
        """)
      withExtendedLifetime(lock) {}
    }
    do {
      let lock = try StoreLock(of: other, isShared: true)
      try await program.check(
        """
        import \(Folders.sample) = 4  | ! ^error: another import or a refresh of
        refresh colors --offline       | _colors      6
        """)
      withExtendedLifetime(lock) {}
    }
    #expect(try await program.run("import", Folders.sample).code == 0)
    try other.close()
  }

  @Test func `a recording leaves the user's entities alone`() async throws {
    try await program.check(
      """
      import \(Folders.sample)                             | 451 entities in
      refresh colors themes --offline                      | _colors      6        0 | _themes      5        0
      fetch color 9999 --no-network                        | "[No Color/Any Color]"
      fetch part 5102c01.875 --offline --reload --key k    | from the service
      fetch color 4 --offline --no-network --json          | "source":"disk"
      """)
    let lego = LegoCache(try Store(at: store))
    #expect(try lego.count() == 451)
    try lego.larder.close()
  }

  @Test func `an address and a key work with capitals, blanks and a slash at its end`() async throws
  {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, "Mine"), at: "/lego/colors/4/")
      let base = "'" + fake.base.replacing("http", with: " HTTP") + "/ '"
      try await program.check(
        """
        fetch color 4 --base \(base) --key ' k '             | "Mine" | 4: from the service
        fetch color 4 --base \(fake.base) --key k --no-network | 4: from the store
        fetch color 5 --base \(base) --key ' ' = 5           | ! answered 401
        """)
      #expect(fake.server.received.first?.fields["authorization"] == "key k")
    }
    #expect(LegoClient.realm(base: "HTTPS://rebrickable.com/api/v3/", credential: nil) == .open)
  }

  // MARK: refresh

  @Test func `refresh reads lists page by page and prints a table`() async throws {
    try await program.check(
      """
      refresh colors themes elements --offline | _colors      6        0 | elements left alone: the service does not have them in full
      """)
    let again = try await program.answer(
      Summary.self, "refresh", "colors", "themes", "elements", "--offline")
    #expect(again.report.tallies.mapValues(\.unchanged) == [.colors: 6, .themes: 5])
    #expect(again.report.omissions == [.elements: .absent] && again.stored[.colors] == 6)
    #expect(again.limit == 10_000_000, "a new store has a limit")
  }

  @Test func `a refresh that fails, or skips entities, is exit code 4`() async throws {
    try await FakeRebrickable.run { fake in
      fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<20) + [#"{"id": 6}"#] }
      let refresh = ["refresh", "--base", fake.base, "--key", "k"]
      let skipped = try await program.run(refresh + ["colors"])
      #expect(skipped.code == 4)
      #expect(skipped.output.contains("\ncolors: 1 fault\n  /lego/colors/ 6: "))
      #expect(
        skipped.error.hasPrefix("error: the lists cannot be read in full (1 fault)"), "\(skipped)")
      let before = fake.server.count
      fake.server.become { request in
        fake.server.count > before + 1 ? .init(503) : fake.answer(request)
      }
      let failed = try await program.run(refresh + ["colors", "themes", "--page-size", "10"])
      #expect(failed.code == 4 && failed.error.hasPrefix("error: the service answered 503"))
      #expect(failed.output.contains("colors: stopped after 10 entities"), "\(failed)")
      #expect(failed.output.contains("themes left alone: it stopped before them"))
    }
  }
}
