import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct EditCommandTests {
  /// A shell with a simulated person. The person edits a value with `change`.
  private func shell(_ change: @escaping (String) throws -> String) throws -> Shell {
    let shell = try Shell(hasPerson: true)
    shell.editing = change
    return shell
  }

  @Test func `an edit keeps everything but the value`() throws {
    let shell = try shell { $0.replacing("1", with: "2") + "\n" }
    let notes = shell.store.namespace("notes")
    try notes.set(
      bytes("{\"n\":1}"), for: "k",
      .with(
        codec: .json, expires: .after(.minutes(15)), stale: .minutes(5), tags: ["a"],
        entityTag: bytes("\"e\""), metadata: [1, 2], isPinned: true))
    let before = try #require(try notes.entry(for: "k"))
    shell.clock.advance(by: .minutes(5))
    #expect(try shell("edit @notes k") == "set notes \"k\" (7 B), expires in 10 min (22:28)\n")
    var after = try #require(try notes.entry(for: "k"))
    #expect(try notes.value(for: "k").map { String(decoding: $0, as: UTF8.self) } == "{\"n\":2}")
    #expect(after.version != before.version)
    (after.version, after.written, after.lastUsed) = (
      before.version, before.written, before.lastUsed
    )
    #expect(after == before)
    #expect(shell.drafts == ["json"] && shell.keptDrafts.isEmpty)
  }

  @Test func `an entry beside encrypted values gets a note, as with set`() throws {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [Cipher()] }
    let application = try Store(at: path, options: options)
    try application.namespace("notes").set("secret", for: "1")
    try application.close()
    let shell = try Shell(hasPerson: true, at: path)
    shell.editing = { _ in "plain" }
    try shell("edit @notes k")
    #expect(shell.notices.last?.contains("this one is not") == true)
  }

  @Test func `the same text changes nothing`() throws {
    // Some editors add a line end to the last line, so an added line end is no change.
    for ending in ["", "\n"] {
      let shell = try shell { $0 + ending }
      try shell("set @notes k text")
      let before = try shell.store.namespace("notes").entry(for: "k")
      #expect(try shell("edit @notes k") == "")
      #expect(try shell.store.namespace("notes").entry(for: "k") == before)
      #expect(shell.takeAside() == ["nothing changed"])
    }
  }

  @Test
  func `an entry that another process wrote meanwhile is replaced only after a question`() throws {
    let shell = try Shell(hasPerson: true)
    let notes = shell.store.namespace("notes")
    shell.editing = { text in
      try notes.set("theirs", for: "k", expires: .after(.minutes(1)))
      return text + " mine"
    }
    try shell("set @notes k text")
    shell.answer = false
    #expect(try shell.error("edit @notes k").code == .declined)
    #expect(try shell("get @notes k --as text").hasSuffix("theirs\n"))
    #expect(shell.keptDrafts == ["text mine"])
    let expected = ["your text is in draft", "\"k\" was changed by another process; overwrite?"]
    #expect(shell.takeAside() == expected)
    shell.answer = true
    shell.editing = { text in
      try notes.remove("k")
      return text + "!"
    }
    try shell("edit @notes k")
    #expect(shell.takeAside() == ["\"k\" was removed by another process; overwrite?"])
    #expect(try shell("get @notes k --as text").hasSuffix("theirs!\n"))
  }

  @Test(arguments: [
    ("k", "the value is no longer JSON ("), ("new", "no entry \"new\" in notes; create it?"),
  ])
  func `JSON that is broken is stored, and an absent key created, only after a question`(
    key: String, question: String
  ) throws {
    let shell = try shell { _ in "{\"a\":" }
    try shell("set @notes k {\"a\":1}")
    shell.answer = false
    #expect(try shell.error("edit @notes \(key)").code == .declined)
    #expect(try shell("get @notes k .a") == "1\n")
    #expect(shell.questions.count == 1 && shell.questions[0].hasPrefix(question))
    #expect(shell.drafts.isEmpty == (key == "new"))
    shell.answer = true
    try shell("edit @notes \(key)")
    #expect(try shell("get @notes \(key) --as text").hasSuffix("{\"a\":\n"))
  }

  @Test func `a JSON number that is broken is stored only after a question`() throws {
    let shell = try shell { $0 + " apples" }
    try shell.store.namespace("notes").set(bytes("42"), for: "k", .with(codec: .json))
    shell.answer = false
    #expect(try shell.error("edit @notes k").code == .declined)
  }

  @Test func `an editor that fails leaves the value and the text`() throws {
    let shell = try Shell(hasPerson: true)
    try shell("set @notes k text")
    shell.editorProblem = "vi exited with 1"
    #expect(try shell.error("edit @notes k").message.description == "vi exited with 1")
    #expect(shell.keptDrafts == ["text"])
    #expect(try shell("get @notes k --as text").hasSuffix("text\n"))
  }

  @Test func `what cannot be edited is refused before the editor starts`() throws {
    let shell = try shell { $0 }
    try shell("set @notes k hex:ff00")
    #expect(
      try shell.error("edit @notes k").message.description == "the value of \"k\" is not text")
    try shell.store.namespace("notes").set(bytes("cabc"), for: "cbor", .with(codec: .cbor))
    #expect(try shell.error("edit @notes cbor").code == .usage)
    let scripted = try Shell(.plain)
    try scripted("set @notes k text")
    let refused = try scripted.error("edit @notes k")
    #expect(refused.code == .promptOnly && refused.code.exitCode == 2)
    #expect(shell.drafts.isEmpty && scripted.drafts.isEmpty)
    let reader = try Shell(hasPerson: true, isReadOnly: true)
    #expect(try reader.error("edit @notes k").code == .readOnly)
    let script = try CommandReader.commands(in: bytes("edit @notes k"), from: .eval(1))
    #expect(throws: ShellError.self) { try shell.session.run(script[0]) }
  }
}

@Suite struct ValueDifferenceTests {
  @Test func `of texts that differ in most lines the first difference is shown`() throws {
    let shell = try Shell(.plain)
    shell.session.current = "t"
    let texts = shell.store.namespace("texts")
    for (key, word) in [("a", "x"), ("b", "y")] {
      let lines = (0..<20_000).map { "\($0) \($0 < 10 ? "" : word)" }
      try texts.set(lines.joined(separator: "\n"), for: key)
    }
    #expect(try shell("diff @texts a b") == "changed\tline 11\t10 x\t10 y\n")
    #expect(
      shell.notices == [
        "note: more than 4,000 lines lie between the first difference and the last; this is the first"
      ])
  }

  @Test func `the differences of texts turn one into the other, and are the fewest`() throws {
    var random = SeededRNG(seed: 7)
    for _ in 0..<500 {
      func text() -> [UInt8] {
        Array(
          (0..<Int.random(in: 0...9, using: &random)).map { _ in
            "abc".randomElement(using: &random)!
          }.map { "\($0)" }.joined(separator: "\n").utf8)
      }
      let (before, after) = (text(), text())
      let difference = ValueDifference(before, after)
      func lines(_ text: [UInt8]) -> [String] {
        text.lines.map { String(decoding: $0, as: UTF8.self) }
      }
      var result = lines(before)
      func number(_ change: ValueDifference.Change) -> Int { Int(change.place.dropFirst(5))! - 1 }
      for change in difference.changes.reversed() where change.kind == .removed {
        #expect(result.remove(at: number(change)) == change.before)
      }
      for change in difference.changes where change.kind == .added {
        result.insert(try #require(change.after), at: number(change))
      }
      #expect(result == lines(after))
      #expect(difference.changes.count == lines(after).difference(from: lines(before)).count)
    }
  }
}
