import ExampleTesting

@testable import LegoCache

/// The built program, from outside: what it prints where, and its exit code.
@Suite struct ProgramTests {
  let program: TestedProgram
  var store: String { program.store }
  init() throws { program = try TestedProgram("larder-lego", store: "my store") }

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
      fetch part ' ' --offline = 2           | ! invalid
      refresh colors --page-size 0 = 2       | ! pages of 0 are not possible
      """)
  }

  @Test func `a key has a realm of its own`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, "Mine"), at: "/lego/colors/4/")
      let mine = ["--base", fake.base, "--key", "secret"]
      let fetched = try await program.run(["fetch", "color", "4"] + mine)
      let first = try #require(fetched.suggestions.first)
      #expect(first.contains("get @lego.colors.") && !first.contains("secret"))
      #expect(try await Outcome(line: first).output.contains("Mine"))
      fake.refuse(403, #"{"detail": "Invalid credentials"}"#)
      let words = mine.joined(separator: " ")
      try await program.check(
        """
        fetch color 5555 \(words) = 5       | ! ^error: the service answered 403: Invalid credentials_hint: give a valid credential: --key or
        fetch color 4 \(words) --no-network | "Mine"
        fetch color 4 --no-network = 4       | ! there is no network
        """)
    }
  }

  /// `make run` fills its store from these lines.
  @Test func `larder import of the recorded entities gives what the library reads`() async throws {
    let lines = Folders.examples.appending(path: "Lego/Sample/entities.jsonl")
    let imported = try await Outcome(
      line: "larder '\(store)' --create -e 'import \(lines.path)'")
    #expect(imported.code == 0, "\(imported)")
    let expiring = try await Outcome(line: "larder '\(store)' -e 'count @* --expiring 31d'")
    #expect(expiring.output.hasPrefix("387\t"), "\(expiring)")
    let lego = LegoCache(try Store(at: store))
    func check<Entity: LegoEntity>(_ type: Entity.Type) throws {
      for key in try lego.namespace(of: type.kind).keys() {
        let entity = try #require(try lego.entities(type)?.strictValue(for: key))
        #expect(Key(entity.key) == key)
      }
    }
    for kind in EntityKind.allCases { try check(kind.type) }
    #expect(
      try EntityKind.allCases.map { try lego.count(of: $0) } == [64, 62, 67, 101, 63, 54, 40])
    try lego.larder.close()
    try await program.check(
      """
      fetch color 9999 --no-network                     | "[No Color/Any Color]"
      refresh colors themes --offline                   | _colors       6        0_ | _themes       5        0_
      fetch color 4 --offline --no-network --json       | "source":"disk"
      """)
    let colors = try await Outcome(line: "larder '\(store)' -e 'count @lego.colors'")
    #expect(colors.output.hasPrefix("64\t"))
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

  @Test func `a refresh that fails, or cannot read all, is exit code 4`() async throws {
    try await program.check("refresh elements --offline = 2 | ! has no list of all elements")
    try await FakeRebrickable.run { fake in
      fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<20) + [#"{"id": 6}"#] }
      let refresh = ["refresh", "colors", "--base", fake.base, "--key", "k"]
      let skipped = try await program.run(refresh)
      #expect(skipped.code == 4 && skipped.output.contains("\ncolors      20        0\n"))
      #expect(skipped.error.hasPrefix("/lego/colors/ 6: "), "\(skipped)")
      #expect(
        skipped.error.contains("error: the lists cannot be read in full (1 fault)"), "\(skipped)")
      fake.server.become { _ in .init(503) }
      let failed = try await program.run(refresh)
      #expect(failed.code == 4 && failed.error.hasPrefix("error: the service answered 503"))
    }
  }
}
