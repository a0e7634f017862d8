import ExampleTesting
import Foundation
import Larder
import LegoCache
import Testing

/// `larder-lego fetch` and `refresh` from outside, over the recording and over a server.
@Suite struct FetchProgramTests {
  private let program: TestedProgram
  private var store: String { program.store }

  init() throws { program = try TestedProgram("larder-lego", store: "my store") }

  @Test func `a colour is fetched once, and is there for the next process`() async throws {
    let first = try await program.run("fetch", "color", "4", "--offline")
    #expect(first.code == 0 && first.error == "")
    #expect(first.output.contains(#""name" : "Red""#))
    #expect(first.output.contains("color 4: from the service\n1 request to the service\n"))
    let second = try await program.run("fetch", "color", "4", "--offline")
    #expect(second.output.contains("color 4: from the store, "))
    #expect(second.output.contains("\n0 requests to the service\n"))
    let third = try await program.run("fetch", "color", "4", "--offline", "--reload")
    #expect(third.output.contains("\n1 request to the service\n"))
  }

  @Test func `the last words are commands that work`() async throws {
    let keys: [(String, String)] = [
      ("color", "4"), ("theme", "4"), ("category", "11"), ("part", "5102c01.875"),
      ("set", "10294-1"), ("minifig", "fig-000018"), ("element", "300121"),
      ("partcolor", "3001/4"),
    ]
    for (kind, key) in keys {
      let outcome = try await program.run("fetch", kind, key, "--offline")
      let answers = try await program.lastAnswers(of: outcome)
      #expect(outcome.code == 0 && answers.count == 4 && !answers.contains(""), "\(kind) \(key)")
      #expect(answers[0].hasPrefix("{"), "\(answers[0])")
    }
    let unknown = try await Outcome(
      of: ["larder-lego", "fetch", "colors", "--store", store, "--offline", "--", "-1"])
    #expect(unknown.code == 0 && unknown.output.contains("[Unknown]"))
    #expect(try await program.lastAnswers(of: unknown).count == 4)
    let refreshed = try await program.run("refresh", "colors", "sets", "--offline")
    #expect(try await program.lastAnswers(of: refreshed).count == 3)
  }

  @Test func `lines for programs`() async throws {
    struct Line: Decodable {
      var kind: String
      var key: String
      var source: String
      var entity: ModelSet
    }
    let outcome = try await program.run(
      "fetch", "sets", "10294-1", "fig-000018", "--offline", "--json")
    let lines = try outcome.output.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    #expect(lines.map(\.key) == ["10294-1", "fig-000018"])
    #expect(lines.map(\.source) == ["loaded", "loaded"] && lines.map(\.kind) == ["set", "set"])
    #expect(lines.map(\.entity.name) == ["Titanic", "Alien"])
  }

  @Test func `lists come page after page, with a table of what changed`() async throws {
    _ = try await program.run("fetch", "color", "777", "--offline")
    let first = try await program.run("refresh", "colors", "themes", "elements", "--offline")
    #expect(first.code == 0 && first.error == "")
    let lines = first.output.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    #expect(lines[1] == ["colors", "6", "0", "0", "0", "0"])
    #expect(lines[2] == ["themes", "5", "0", "0", "0", "0"])
    #expect(first.output.contains("elements left alone: the service does not have them in full"))
    let second = try await program.answer(
      Summary.self, "refresh", "colors", "themes", "elements", "--offline")
    #expect(second.kinds.map(\.namespace) == ["lego.colors", "lego.themes"])
    #expect(second.kinds.map(\.tally.unchanged) == [6, 5] && second.total.read == 11)
    #expect(second.total.added == 0 && second.total.removed == 0)
    #expect(second.omitted.map(\.namespace) == ["lego.elements"])
    #expect(second.omitted.map(\.reason) == [.absent] && second.store == store)
    let none = try await program.run("refresh", "colors", "--offline", "--plan", "memory-only")
    #expect(none.code == 2)
  }

  @Test(.enabled(if: Outcome.canFakeTerminal, "skipped: no script command"))
  func `at a terminal a list tells how far it is`() async throws {
    let outcome = try await Outcome(
      atTerminal: ["larder-lego", "refresh", "colors", "--offline", "--store", store])
    let pieces = outcome.output.components(separatedBy: "\r\u{1B}[K")
    #expect(outcome.code == 0 && pieces.count >= 3)
    #expect(pieces[1].hasPrefix("colors      [####"))
    #expect(pieces.last?.contains("colors") == true)
  }

  @Test func `with a key what was fetched is kept apart from what was imported`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, "Mine"), at: "/lego/colors/4/")
      _ = try await Outcome(of: ["larder-lego", "import", Folders.sample, "--store", store])
      let service = ["--base", fake.base, "--key", "secret", "--store", store]
      // The server shares this process's threads with all tests.
      let fetch = ["larder-lego", "fetch", "--timeout", "300"] + service
      let mine = try await Outcome(of: fetch + ["color", "4"])
      #expect(mine.code == 0 && mine.output.contains("Mine"))
      let first = try #require(mine.suggestions.first)
      #expect(first.contains("get @lego.colors.") && !first.contains("secret"))
      #expect(try await Outcome(line: first).output.contains("Mine"))
      let shown = try await Outcome(of: ["larder-lego", "show", "color", "4"] + service)
      #expect(shown.output.contains("Mine"))
      #expect(try await program.run("show", "color", "4").output.contains("\"Red\""))
      fake.refuse(403, #"{"detail": "Invalid credentials"}"#)
      let refused = try await Outcome(of: fetch + ["color", "5"])
      #expect(refused.code == 4)
      #expect(refused.error == "error: the service answered 403: Invalid credentials\n")
    }
  }

  @Test func `a plan without a disk leaves no file, and a limit must be possible`() async throws {
    let memory = try await program.run("fetch", "color", "4", "--offline", "--plan", "memory-only")
    #expect(memory.code == 0 && memory.output.contains("Red") && memory.suggestions.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: store))
    #expect(try await program.run("fetch", "color", "4", "--offline", "--limit", "3").code == 2)
    _ = try await program.run("fetch", "color", "4", "--offline")
    #expect(try limit() == 10_000_000, "for a new store")
    _ = try await program.run("fetch", "color", "4", "--offline", "--limit", "25")
    #expect(try limit() == 25_000_000)
    _ = try await program.run("fetch", "color", "4", "--offline")
    #expect(try limit() == 25_000_000, "what it has")
  }

  private func limit() throws -> Int? {
    let store = try Store(at: store)
    defer { do { try store.close() } catch { Issue.record(error) } }
    return try store.limits().declared.disk
  }

  @Test func `what is not there, and a service that is not, are told apart`() async throws {
    let absent = try await program.run("fetch", "part", "no such", "--offline")
    #expect(absent.code == 1 && absent.output == "")
    #expect(absent.error.hasPrefix("error: there is no part no such\nhint: the recording"))
    let gone = try await program.run("fetch", "part", "1", "--base", "http://127.0.0.1:1/api")
    #expect(gone.code == 4 && gone.error.hasPrefix("error: the service cannot be reached: "))
    #expect(gone.error.contains("\nhint: --offline "))
    #expect(!gone.error.contains("NSURLErrorDomain"))
    #expect(try await program.run("fetch", "part", "..", "--offline").code == 5)
    #expect(
      try await program.run("fetch", "part", "1", "--offline", "--recording", "/absent").code == 2)
  }

  @Test func `the session on the page is what happens`() async throws {
    let page = try String(
      contentsOf: Folders.examples.appending(path: "Lego/README.md"), encoding: .utf8)
    let call = "    $ larder-lego fetch theme 4 --offline --store lego.larder\n"
    let start = try #require(page.range(of: call))
    let shown = page[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { $0.isEmpty || $0.hasPrefix("    ") }
      .map { String($0.dropFirst(4)).replacing("lego.larder", with: store.debugDescription) }
    let outcome = try await program.run("fetch", "theme", "4", "--offline")
    let said = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).replacing("'" + store + "'", with: store.debugDescription) }
    #expect(shown == said)
  }

  @Test func `what a cache saves is measured with the same lookups each time`() async throws {
    struct Figures: Decodable {
      struct Times: Decodable { var count: Int }
      var lookups: Int
      var requests: Int
      var saved: Double
      var loaded: Times
      var uncached: Times
    }
    let outcome = try await program.run("measure", "--offline", "--lookups", "200", "--json")
    let figures = try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8))
    #expect(figures.lookups == 200 && figures.requests == 4 && figures.saved == 0.98)
    #expect(figures.loaded.count == 4 && figures.uncached.count == 200)
  }
}
