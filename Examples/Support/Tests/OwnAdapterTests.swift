import ExampleTesting

/// The adapter on the examples' page is compiled and works.
@Suite struct OwnAdapterTests {
  private func page() throws -> String { try text("README.md") }

  @Test func `the adapter on the page is the one that is compiled, in about sixty lines`() throws {
    let page = try page()
    let start = try #require(page.range(of: "```swift\n"))
    let end = try #require(page[start.upperBound...].range(of: "```"))
    let shown = String(page[start.upperBound..<end.lowerBound])
    let source = Folders.examples.appending(path: "Rates/Rates.swift")
    #expect(try shown == String(contentsOf: source, encoding: .utf8))
    #expect(shown.split(separator: "\n", omittingEmptySubsequences: false).count <= 66)
  }

  @Test func `it answers what the page says it does, and asks once`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.url.path + "/rates.larder"
    let known = ["/2026-01-05": "0.9312", "/2026-01-06": "0.9298"]
    try await LocalServer.run { server in
      server.become { request in
        guard let rate = known[request.path] else { return .init(404) }
        return .init(200, text: #"{"base": "EUR", "rates": {"CHF": \#(rate)}}"#)
      }
      let command = ["larder-rates", store, server.base, "2026-01-05", "2026-01-06"]
      let first = try await Outcome(of: command)
      let shown = try session()
      let lines = shown.dropFirst().map { $0.replacing("rates.larder", with: store) }
      #expect(
        shown.first == "$ larder-rates rates.larder https://rates.example 2026-01-05 2026-01-06")
      #expect(first.code == 0 && first.output.split(separator: "\n").map(String.init) == lines)
      #expect(server.count == 2)
      let second = try await Outcome(of: command)
      #expect(second.output.contains("2026-01-05 0.9312 memory") && server.count == 2)
      let listed = try await Outcome(line: try #require(lines.last))
      #expect(listed.code == 0 && listed.output.contains("2026-01-06"))
      let third = try await Outcome(of: command + ["2026-01-07"])
      #expect(third.code == 5, "a day without rates")
    }
  }

  /// The lines of the console on the page.
  private func session() throws -> [String] {
    let page = try page()
    let start = try #require(page.range(of: "```console\n"))
    let end = try #require(page[start.upperBound...].range(of: "```"))
    return page[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
  }

  @Test func `every program has a row in the table and a run of its own`() throws {
    let manifest = try text("Package.swift")
    let programs = manifest.components(separatedBy: ".executable(name: \"").dropFirst().map {
      String($0.prefix { $0 != "\"" })
    }.filter { $0.hasPrefix("larder-") }
    #expect(programs.contains("larder-lego"))
    let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| [") }
    let runs = try text("../Scripts/examples")
    for program in programs {
      let row = try #require(rows.first { $0.contains("`\(program)`") }, "\(program)")
      let path = try #require(row.split(separator: "(").dropFirst().first?.prefix { $0 != ")" })
      let file = Folders.examples.appending(path: String(path)).path
      #expect(FileManager.default.fileExists(atPath: file), "\(path)")
      #expect(runs.contains("\nrun \(program) "), "\(program)")
    }
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Folders.examples.appending(path: path), encoding: .utf8)
  }
}
