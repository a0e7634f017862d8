import ExampleTesting

@testable import LegoCache

/// Tests of the built program as a process: its output, its error output, and its exit code.
@Suite struct ProgramTests {
  private let program = TestedProgram("larder-lego", store: "my store")

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

  /// `make run` fills its store with the same lines as this test.
  @Test func `larder import of the recorded entities gives what the library reads`() async throws {
    let lines = Repository.root.appending(path: "Examples/Lego/Sample/entities.jsonl")
    let imported = try await Outcome(
      line: "larder '\(program.store)' --create -e 'import \(lines.path)'")
    #expect(imported.code == 0, "\(imported)")
    let lego = try LegoClient(in: Store(at: program.store), credential: nil, over: Disconnected())
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
