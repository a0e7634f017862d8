import ExampleTesting
import Foundation
import Larder
import Testing

@testable import LegoCache

/// The built program, from outside: what it prints where, and its exit code.
@Suite struct ProgramTests {
  private let program: TestedProgram
  private var store: String { program.store }
  private var folder: TemporaryFolder { program.folder }

  init() throws { program = try TestedProgram("larder-lego", store: "my store") }

  // MARK: fetch and refresh

  @Test func `a colour is fetched once, and stored for the next process`() async throws {
    let first = try await program.run("fetch", "color", "4", "--offline")
    #expect(first.code == 0 && first.error == "")
    #expect(first.output.contains(#""name" : "Red""#))
    #expect(first.output.contains("color 4: from the service\n1 request to the service\n"))
    let second = try await program.run("fetch", "color", "4", "--offline")
    #expect(second.output.contains("color 4: from the store, "))
    #expect(second.output.contains("\n0 requests to the service\n"))
    let third = try await program.run("fetch", "color", "4", "--offline", "--reload")
    #expect(third.output.contains("\n1 request to the service\n"))
    let stored = try await program.run("fetch", "color", "4", "--no-network")
    #expect(stored.output.contains("color 4: from the store, "))
  }

  @Test(arguments: [
    ("color", "4"), ("theme", "4"), ("category", "11"), ("part", "5102c01.875"), ("set", "10294-1"),
    ("minifig", "fig-000018"), ("element", "300121"), ("partcolor", "3001/4"),
  ]) func `the closing lines are commands that work`(kind: String, key: String) async throws {
    let outcome = try await program.run("fetch", kind, key, "--offline")
    let answers = try await program.lastAnswers(of: outcome)
    #expect(outcome.code == 0 && answers.count == 4 && !answers.contains(""))
    #expect(answers.first?.hasPrefix("{") == true)
  }

  @Test func `fetch prints a line of JSON for each entity`() async throws {
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

  @Test(arguments: [
    ("parts", "brick", "3001        Brick 2 x 4\n", "4 of 4"),
    ("inventory", "10294-1", "12 x        3001        Red Brick 2 x 4\n1 x ", "2 of 2"),
    ("colors-of", "3001", "4           Red         433 sets\n", "2 of 2"),
  ]) func `lists of names, inventories and colours`(
    subject: String, text: String, beginning: String, count: String
  ) async throws {
    let first = try await program.run("list", subject, text, "--offline")
    #expect(first.code == 0 && first.output.hasPrefix(beginning), "\(first)")
    #expect(first.output.contains("\n\(count), from the service\n"))
    #expect(try await !program.lastAnswers(of: first).contains(""))
    let again = try await program.run("list", subject, text, "--no-network")
    #expect(again.output.contains("\n\(count), from the store, "))
    let json = try await program.run("list", subject, text, "--no-network", "--json")
    #expect(json.code == 0 && json.output.contains(#""source":"disk""#))
  }

  @Test func `refresh reads lists page by page and prints a table`() async throws {
    let first = try await program.run("refresh", "colors", "themes", "elements", "--offline")
    #expect(first.code == 0 && first.error == "")
    let lines = first.output.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    #expect(lines[1] == ["colors", "6", "0", "0", "0", "0"])
    #expect(first.output.contains("elements left alone: the service does not have them in full"))
    let second = try await program.answer(
      Summary.self, "refresh", "colors", "themes", "elements", "--offline")
    #expect(second.kinds.map(\.namespace) == ["lego.colors", "lego.themes"])
    #expect(second.kinds.map(\.tally.unchanged) == [6, 5] && second.total.read == 11)
    #expect(second.omitted.map(\.reason) == [.absent] && second.store == store)
    let none = try await program.run("refresh", "colors", "--offline", "--plan", "memory-only")
    #expect(none.code == 2)
  }

  @Test func `a key has a realm of its own, which uses imported entities`() async throws {
    try await FakeRebrickable.run { fake in
      fake.put(Body.color(4, "Mine"), at: "/lego/colors/4/")
      _ = try await program.run("import", Folders.sample)
      // The server shares this process's threads with all tests.
      let service = ["--base", fake.base, "--key", "secret", "--store", store]
      let fetch = ["larder-lego", "fetch", "--timeout", "300"] + service
      let imported = try await Outcome(of: fetch + ["color", "4"])
      #expect(imported.output.contains("\"Red\"") && fake.server.count == 0)
      let mine = try await Outcome(of: fetch + ["color", "4", "--reload"])
      #expect(mine.code == 0 && mine.output.contains("Mine"))
      let first = try #require(mine.suggestions.first)
      #expect(first.contains("get @lego.colors.") && !first.contains("secret"))
      #expect(try await Outcome(line: first).output.contains("Mine"))
      let shown = try await Outcome(of: ["larder-lego", "show", "color", "4"] + service)
      #expect(shown.output.contains("Mine"))
      #expect(try await program.run("show", "color", "4").output.contains("\"Red\""))
      fake.refuse(403, #"{"detail": "Invalid credentials"}"#)
      let refused = try await Outcome(of: fetch + ["color", "5555"])
      #expect(refused.code == 5)
      #expect(
        refused.error
          == "error: the service answered 403: Invalid credentials\nhint: give a valid credential: --key or REBRICKABLE_KEY\n"
      )
    }
  }

  @Test func `a plan without a disk makes no file, and a limit holds`() async throws {
    let memory = try await program.run("fetch", "color", "4", "--offline", "--plan", "memory-only")
    #expect(memory.code == 0 && memory.output.contains("Red") && memory.suggestions.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: store))
    func limit(_ arguments: String...) async throws -> Int? {
      _ = try await Outcome(
        of: ["larder-lego", "fetch", "color", "4", "--offline", "--store", store] + arguments)
      let store = try Store(at: store)
      defer { do { try store.close() } catch { Issue.record(error) } }
      return try store.limits().declared.disk
    }
    #expect(try await limit() == 10_000_000)
    #expect(try await limit("--limit", "25") == 25_000_000)
    #expect(try await limit() == 25_000_000)
    #expect(try await program.run("fetch", "color", "4", "--offline", "--limit", "3").code == 2)
  }

  // MARK: import and show

  @Test func `the sample is imported, with a table and closing lines`() async throws {
    let first = try await program.run("import", Folders.sample)
    #expect(first.code == 0 && first.error == "")
    let lines = first.output.split(separator: "\n").map(String.init)
    #expect(
      lines[0].split(separator: " ") == ["added", "changed", "renewed", "unchanged", "removed"])
    #expect(lines[4].split(separator: " ") == ["parts", "101", "0", "0", "0", "0"])
    #expect(lines[8].split(separator: " ") == ["total", "451", "0", "0", "0", "0"])
    #expect(lines.contains("  larder '\(store)' -e namespaces"))
    let second = try await program.answer(Summary.self, "import", Folders.sample)
    #expect(second.total == ImportReport.Tally(unchanged: 451))
    let part = try await program.run("show", "parts", "3001")
    #expect(part.code == 0 && part.error == "")
    #expect(try JSONDecoder().decode(Part.self, from: Data(part.output.utf8)).key == "3001")
    let color = try await Outcome(of: [
      "larder-lego", "show", "colors", "--store", store, "--", "-1",
    ])
    #expect(color.output.contains("\"[Unknown]\""))
    let absent = try await program.run("show", "parts", "no such")
    #expect(absent.code == 1 && absent.output == "")
    #expect(absent.error.hasPrefix("error: there is no no such in parts\nhint: larder '"))
  }

  @Test func `an import lists skipped rows and says where it stopped`() async throws {
    func write(_ name: String, _ text: String) throws {
      _ = try folder.write(name, Array(text.utf8))
    }
    try write("colors.csv", "id,name,rgb,is_trans\n0,Black,05131D,f\n")
    try write("parts.csv", "part_num,name,part_cat_id\n3001,Brick,11\n")
    try write("elements.csv", "element_id,part_num,color_id\n1,3001,0\n2,gone,0\n")
    let skipped = try await program.run("import", folder.url.path)
    #expect(skipped.code == 0)
    #expect(
      skipped.output.contains("elements: 1 row skipped\n  elements.csv:3: no part \"gone\"\n"))
    let report = try await program.answer(Summary.self, "import", folder.url.path)
    #expect(report.kinds.compactMap(\.skipped?.count) == [1] && report.failure == nil)

    try write("themes.csv", "id,name,parent_id\n1,Technic,\nx,Race,1\n")
    let broken = try await program.run("import", folder.url.path)
    #expect(broken.code == 4)
    #expect(broken.error.hasPrefix("error: themes.csv:3: id: \"x\" is not a number\nhint: "))
    #expect(broken.output.contains("themes: stopped after 0 entities"))
    #expect(broken.output.contains("parts left alone: it stopped before them"))
  }

  @Test func `lifetimes and a limit can be given`() async throws {
    let outcome = try await program.run(
      "import", Folders.sample, "--lifetimes", "never", "--only", "sets")
    #expect(outcome.code == 0)
    let lego = try Store(at: store)
    #expect(try lego.namespaces().map(\.rules.expires) == [.never])
    try lego.close()
    let rows = (0..<600).map { "\($0),\(String(repeating: "x", count: 10_000)),\n" }.joined()
    _ = try folder.write("themes.csv", Array(("id,name,parent_id\n" + rows).utf8))
    let limited = try await program.answer(Summary.self, "import", folder.url.path, "--limit", "4")
    #expect(limited.limit == 4_000_000 && (1..<600).contains(limited.kinds[0].held))
    #expect(try fileSize(store) <= 4_000_000)
    // Small ones fill each page, and a transaction cannot evict for itself any more.
    let small = (0..<16_000).map { "\($0),\(String(repeating: "y", count: 300)),\n" }.joined()
    _ = try folder.write("themes.csv", Array(("id,name,parent_id\n" + small).utf8))
    let full = try await program.answer(Summary.self, "import", folder.url.path, "--limit", "4")
    #expect(full.total.read == 16_000 && (1000..<16_000).contains(full.kinds[0].held))
    #expect(try fileSize(store) <= 4_000_000)
    let huge = try await program.run(
      "import", Folders.sample, "--limit", "9223372036854775807", "--only", "colors")
    #expect(huge.code == 0, "\(huge)")
    _ = try await program.run("import", Folders.sample, "--limit", "4", "--only", "colors")
    let again = try await program.run("import", folder.url.path)
    #expect(again.output.contains("because the file is limited to 4 MB; --limit changes that"))
  }

  @Test(arguments: [
    ["frobnicate"], ["import"], ["show", "colours", "1"], ["import", "/absent folder"],
    ["import", "/"], ["fetch", "part", "1", "--offline", "--recording", "/absent"],
  ]) func `wrong usage is exit code 2, with a reason`(arguments: [String]) async throws {
    let outcome = try await Outcome(of: ["larder-lego"] + arguments)
    #expect(outcome.code == 2 && outcome.output == "")
    #expect(outcome.error.lowercased().hasPrefix("error: "))
  }

  @Test func `other failures have their codes`() async throws {
    let closed = try await program.run("show", "parts", "3001")
    #expect(closed.code == 3 && closed.error.hasPrefix("error: there is no store at "))
    #expect(!FileManager.default.fileExists(atPath: store), "reading creates nothing")
    let absent = try await program.run("fetch", "part", "no such", "--offline")
    #expect(absent.code == 1 && absent.output == "")
    #expect(absent.error.hasPrefix("error: there is no part no such\nhint: the recording"))
    let gone = try await program.run("fetch", "part", "1", "--base", "http://127.0.0.1:1/api")
    #expect(gone.code == 4)
    #expect(gone.error.hasPrefix("error: the service cannot be reached: the connection "))
    #expect(!gone.error.contains("NSURLErrorDomain"))
    #expect(try await program.run("fetch", "part", "..", "--offline").code == 5)
  }
}
