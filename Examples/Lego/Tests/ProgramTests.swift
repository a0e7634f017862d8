import ExampleTesting

@testable import LegoCache

/// The built program, tested from outside: its output on both streams, and its exit code.
@Suite struct ProgramTests {
  private let program: TestedProgram
  init() throws { program = try TestedProgram("larder-lego", store: "my store") }

  @Test func `all kinds, lists, several keys, and errors with their codes`() async throws {
    try await program.check(
      """
      fetch color 4 --offline                | ^{_ | _color 4: from the service_
      fetch color 4 --offline --no-network   | _color 4: from the store,
      fetch color 4 --offline --reload       | _color 4: from the service_
      fetch themes 4 --offline               | _theme 4: from the service_
      fetch category 11 --offline            | _category 11: from the service_
      fetch part 5102c01.875 --offline       | _part 5102c01.875: from the service_
      fetch minifig fig-000018 --offline     | _set fig-000018: from the service_
      fetch element 300121 --offline         | _element 300121: from the service_
      fetch partcolor 3001/4 --offline       | _partcolor 3001/4: from the service_
      fetch part 3001 nope --offline = 1     | _part 3001: from | ! ^error: there is no part nope_
      list sets table --offline              | from the service_
      list parts brick --offline             | ^3001        Brick 2 x 4_ | 4 of 4, from the service_
      list parts brick --offline --no-network | 4 of 4, from the store
      list inventory 10294-1 --offline       | ^12 x        3001        Red Brick 2 x 4_ | 2 of 2
      list colors-of 3001 --offline          | ^4           Red         433 sets_ | 2 of 2
      list inventory 1-1 --offline = 1       | ! error: the service answered 404
      fetch part .. --offline = 2            | ! ^error: ".." is no key of parts_
      fetch partcolor 3001/x --offline = 2   | ! ^error: "3001/x" is no key of partcolors_
      fetch color 04 --offline = 1           | ! ^error: there is no color 04
      fetch colours 1 = 2                    | ! ^Error:
      """)
  }

  @Test func `a key has a realm of its own, and a refusal has its code`() async throws {
    try await LocalServer.run { server in
      server.become { request in
        guard request.fields["authorization"] == "key secret" else {
          return .init(401, json: #"{"detail": "Authentication credentials were not provided."}"#)
        }
        if request.bare.contains("colors") {
          return .init(json: #"{"id": 4, "name": "Mine", "rgb": "C91A09"}"#)
        }
        let sets = #"[{"set_num": "1-1", "name": "Titanic"}, {"set_num": "6-1"}]"#
        return .init(json: #"{"count": 2, "results": \#(sets)}"#)
      }
      let words = "--base '\(server.base)/api/v3/ ' --key ' secret '"
      let fetched = try await program.run("fetch color 4 \(words)")
      let first = try #require(fetched.suggestions.first)
      #expect(first.contains("get @lego.colors.") && !first.contains("secret"))
      #expect(try await Outcome(line: first).output.contains("Mine"))
      try await program.check(
        """
        fetch color 4 \(words) --no-network | "Mine"
        fetch color 4 --no-network = 4      | ! there is no network
        fetch color 4 --base \(server.base)/api/v3 = 5 | ! ^error: the service answered 401 | ! hint: give a valid credential: --key or
        list sets x \(words)                | ^1-1         Titanic_1 of 2, | ! ^left out: 6-1: results[1].name is missing
        """)
    }
  }

  /// `make run` fills its store from these lines.
  @Test func `larder import of the recorded entities gives what the library reads`() async throws {
    let lines = Repository.root.appending(path: "Examples/Lego/Sample/entities.jsonl")
    let imported = try await Outcome(
      line: "larder '\(program.store)' --create -e 'import \(lines.path)'")
    #expect(imported.code == 0, "\(imported)")
    let lego = try LegoCache(Store(at: program.store))
    func check<Entity: LegoEntity>(_ type: Entity.Type) throws -> Int {
      let keys = try lego.namespace(of: type.kind).keys()
      for key in keys {
        let entity = try #require(try lego.entities(type)?.strictValue(for: key))
        #expect(Key(entity.key) == key)
      }
      return keys.count
    }
    #expect(try EntityKind.allCases.map { try check($0.type) } == [64, 62, 67, 101, 63, 54, 40])
    try lego.store.finish()
  }
}
