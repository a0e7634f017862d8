import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct HelpTests {
  private let help = CommandTable.standard

  @Test func `the overview has every command and topic`() {
    for command in CommandTable.standard.commands {
      #expect(help.overview.contains("  \(command.name)"))
    }
    for topic in HelpTopic.all { #expect(help.overview.contains(topic.name)) }
  }

  @Test func `every topic of the contract has a text, and some have other names`() throws {
    for name in ["selections", "times", "sizes", "quoting", "globs", "output", "scripts", "keys"] {
      #expect(HelpTopic.named(name) != nil)
    }
    for option in Selection.options {
      #expect(HelpTopic.named("selections")?.text.contains(option.usage) == true)
    }
    #expect(try help.text(about: bytes("RM")).hasPrefix("usage: evict "))
    // If a command has the name of a topic, the command's text comes first and the topic's text after it.
    for name in ["keys", "output"] {
      let text = try help.text(about: bytes(name))
      #expect(text.hasPrefix("usage: \(name)"))
      #expect(text.contains(HelpTopic.named(name)?.text ?? "?"))
    }
    for (name, topic) in [
      ("patterns", "globs"), ("regex", "globs"), ("where", "expressions"), ("redirection", "pipes"),
    ] { #expect(try help.text(about: bytes(name)) == HelpTopic.named(topic)?.text) }
  }
}

@Suite struct CompletionTests {
  private let completer = Completer(.standard)

  @Test(arguments: [("keys @a --where '.ye", ".year"), ("keys @a --sort .n", ".name")])
  func `fields of values are completed`(line: String, field: String) {
    var asked: [Completer.Request] = []
    #expect(texts(line, ["name", "year"]) { asked.append($0) } == [field])
    #expect(asked.count == 1)
  }

  @Test func `names, functions and keywords of expressions are completed`() {
    #expect(texts("keys --where 'stat") == ["state", "status"])
    #expect(texts("count --by nam") == ["namespace"])
    #expect(texts("keys --where '.a = 1 an") == ["and"])
    #expect(texts("keys --where ", ["a"]).contains("'.a"))
    #expect(texts("get @a key .n", ["name"]) == [".name"])
    #expect(texts("keys --show '.a, lo") == ["lower("])
    #expect(texts("keys --where '.a[].", ["a", "b", "a[].b"]) == [".a[].b"])
    #expect(texts("keys --where '.a[0].", ["a", "b", "a[].b"]) == [".a[0].b"])
    #expect(texts("get @a key .a[12", ["a", "a[].b"]) == [".a[12].b"])
    #expect(texts("keys --where '.K\u{F6}", ["a", "name"]) == [])
    let completion = completer.completion(of: bytes("keys --where '.a = 1 and .ye")) { _ in
      ([bytes("year")], false)
    }
    #expect(completion.range == 25..<28 && completion.candidates == [".year"])
    // After a closed quote, a completion would replace the quote.
    #expect(texts("keys --where '.a'", ["abc"]) == [])
  }

  @Test func `the fields of objects within objects are known`() {
    let paths = JSONText.paths(of: bytes(#"{"a":1,"b":{"c":2,"d":[{"e":3}]},"odd name":{"f":4}}"#))
    #expect(paths == ["a", "b", "b.c", "b.d"])
    #expect(JSONText.paths(of: bytes(#"{"a":[{"b":1},2]}"#)) == ["a", "a[].b"])
    #expect(JSONText.paths(of: bytes("[{\"a\":1}]")) == [])
    #expect(JSONText.paths(of: bytes("{")) == [])
  }

  private func texts(
    _ line: String, _ names: [String] = [], asked: ((Completer.Request) -> Void)? = nil
  ) -> [String] {
    completer.completion(of: bytes(line)) { request in
      asked?(request)
      return (names.map(bytes), false)
    }.candidates.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 }
  }

  @Test(arguments: [
    ("ke", ["keys"]),
    ("e", ["exists", "expiring", "edit", "expire", "evict", "export", "echo", "expiry", "exit"]),
    ("KE", ["keys"]), ("zz", []), ("'ke", []), ("keys --so", ["--sort"]),
    ("watch --events set,e", ["set,expired", "set,evicted"]), ("watch --events up", ["updated"]),
    ("keys --sort ", ["key", "size", "expiry", "written", "used"]), ("keys --sort=wr", ["written"]),
    ("keys --limit ", ["all"]), ("get --as j", ["json"]), ("keys --older 1d --ol", []),
    ("keys --tag a --ta", ["--tag"]), ("output js", ["json", "jsonl"]),
    ("help qu", ["quit", "quoting"]), ("kesy --so", []),
    (
      "get a --",
      [
        "--as", "--head", "--full", "--out", "--force", "--copy", "--show", "--match", "--regex",
        "--tag", "--contains", "--expiring", "--expired", "--permanent", "--older", "--newer",
        "--idle", "--larger", "--smaller", "--where", "--sort", "--reverse", "--limit", "--after",
        "--stdin", "--json",
      ]
    ), ("keys -- --", []), ("set k v --until mi", ["midnight"]), ("undo ", []), ("keys \\q ", []),
  ]) func `words of the language are completed from the table`(line: String, expected: [String]) {
    #expect(texts(line) == expected)
  }

  @Test func `the word at the cursor is what is replaced`() {
    func range(_ line: String) -> Range<Int> {
      completer.completion(of: bytes(line)) { _ in ([bytes("x")], false) }.range
    }
    let ranges = ["ke", "keys ", "keys @a 'b c", "keys --sort=wr"].map(range)
    #expect(ranges == [0..<2, 5..<5, 8..<12, 12..<14])
  }

  @Test func `names of the store are asked for and quoted if need be`() {
    var requests: [Completer.Request] = []
    #expect(texts("keys @de", ["departures"]) { requests.append($0) } == ["@departures"])
    #expect(texts("use de", ["departures"]) { requests.append($0) } == ["departures"])
    #expect(
      texts("get @departures \"Mal", ["Malm\u{F6} C:07", "Malbork"]) { requests.append($0) }
        == ["\"Malm\u{F6} C:07\"", "Malbork"])
    #expect(texts("evict @* Ki", ["Kiruna:07"]) { requests.append($0) } == ["Kiruna:07"])
    #expect(texts("keys --after K", ["K1"]) { requests.append($0) } == ["K1"])
    #expect(texts("set k --from pa", ["page.html"]) { requests.append($0) } == ["page.html"])
    #expect(texts("echo a", ["abc"]) { requests.append($0) } == [])
    #expect(texts("echo @a", ["abc"]) { requests.append($0) } == [])
    #expect(requests.count == 6)
    #expect(requests[0] == .namespaces(prefix: bytes("de")))
    #expect(requests[1] == .namespaces(prefix: bytes("de")))
    guard case .keys(.named(let names), let prefix) = requests[2] else {
      return #expect(Bool(false), "no keys asked for")
    }
    #expect(names.map(\.text) == ["departures"] && prefix == bytes("Mal"))
    #expect(requests[3] == .keys(.all, prefix: bytes("Ki")))
    #expect(requests[4] == .keys(.unnamed, prefix: bytes("K")))
    #expect(requests[5] == .files(prefix: bytes("pa")))
  }

  @Test(arguments: [
    ("info ", "[@NS] KEY..."), ("keys --where ", "EXPR"), ("keys --where -- ", "EXPR"),
    ("expire ", "SELECTION TIME|+D [--at-least] [--at-most] [--dry-run] [--yes|-y] [--verbose]"),
    ("expire a --at-most --dry-run ", "TIME|+D [--at-least] [--yes|-y] [--verbose]"),
    ("keys --older ", "AGE"),
    (
      "set k ",
      "[VALUE] [--from FILE] [--ttl D] [--until TIME] [--if-absent] [--if-present] [--yes|-y]"
    ),
    ("use @a ", nil), ("get", nil), ("kesy ", nil), ("get 'a ", nil), ("", nil),
    ("quit ", "[CODE]"), ("persist ", "SELECTION [--dry-run] [--yes|-y] [--verbose]"),
    ("persist a --yes ", "[--dry-run] [--verbose]"),
  ]) func `a hint says what may come next`(line: String, hint: String?) {
    #expect(CommandTable.standard.hint(behind: bytes(line)) == hint)
  }
}

@Suite struct KeyCompletionTests {
  private func texts(_ line: String, in shell: Shell) -> [String] {
    Completer(.standard).completion(of: bytes(line)) { shell.session.candidates(for: $0) }
      .candidates.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 }
  }

  @Test func `however many keys there are, what all of them share is known`() throws {
    let shell = try Shell()
    try shell.store.write { batch in
      for number in 1000..<1600 {
        try batch.set("v", for: "ka\(number)", in: shell.store.namespace("b"))
      }
      for key in ["k", "kb", "x"] { try batch.set("v", for: key, in: shell.store.namespace("c")) }
      try batch.set("v", for: "kax", in: shell.store.namespace("d"), expires: .after(.seconds(1)))
    }
    shell.clock.advance(by: .seconds(2))
    let session = shell.session!
    let found = session.candidates(for: .keys(.all, prefix: bytes("ka")))
    #expect(found.isCut && found.names.allSatisfy { $0.starts(with: bytes("ka1")) })
    let other = session.candidates(for: .keys(.all, prefix: bytes("k")))
    #expect(other.isCut && other.names.contains(bytes("k")))
    try shell.store.namespace("b").set("v", for: "ka2")
    #expect(session.candidates(for: .keys(.all, prefix: bytes("ka"))).names.contains(bytes("ka2")))
  }

  @Test func `keys of integers and UUIDs are completed as they are typed`() throws {
    let shell = try Shell()
    let id = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
    for number in [10, 11, 2, -1] { try shell.store.namespace("a").set("v", for: number) }
    try shell("set @a uuid:\(id) v")
    #expect(texts("get @a int:1", in: shell) == ["int:10", "int:11"])
    #expect(texts("get @a int:-", in: shell) == ["int:-1"])
    #expect(texts("get @a uuid:f8", in: shell) == ["uuid:\(id)"])
    #expect(texts("get @a ", in: shell).contains("int:2"))
  }
}

@Suite struct SuggestionTests {
  @Test(arguments: [
    ("kesy", "keys", 1), ("keys", "keys", 0), ("kays", "keys", 1), ("key", "keys", 1),
    ("evcit", "evict", 1), ("", "ab", 2), ("abc", "", 3), ("kitten", "sitting", 3),
  ]) func `distance counts edits and swaps`(a: String, b: String, expected: Int) {
    #expect(Suggestions.distance(a, b) == expected)
    #expect(Suggestions.distance(b, a) == expected)
  }

  @Test func `the nearest come first, and far ones not at all`() {
    #expect(Suggestions.all("kes", among: ["get", "keys", "set"]) == ["keys"])
    #expect(Suggestions.all("kesss", among: ["keys"]) == ["keys"])
    #expect(Suggestions.all("nosuch", among: ["touch"]) == [])
    #expect(Suggestions.all("evi", among: ["evict", "keys"]) == ["evict"])
    #expect(Suggestions.all("x", among: ["evict", "keys", "xray"]) == [])
    let long = String(repeating: "x", count: 256)
    #expect(Suggestions.all(long, among: [long + "y"]) == [long + "y"])
    #expect(Suggestions.all(long + "x", among: [long + "y"]) == [])
    #expect(
      Suggestions.question("ste", among: ["set", "stats"])?.description == "did you mean `set`?")
    let question = Suggestions.question("abce", among: ["abcd", "abcf", "zzzz"]) { "@\($0)" }
    #expect(question?.description == "did you mean `@abcd` or `@abcf`?")
  }
}
