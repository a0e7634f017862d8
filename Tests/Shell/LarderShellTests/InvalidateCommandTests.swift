import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct InvalidateCommandTests {
  private func filled(_ mode: OutputMode) throws -> Shell {
    let shell = try Shell(mode)
    for (name, key, tags) in [
      ("a", "1", ["x"]), ("a", "2", ["x", "y"]), ("a", "3", []), ("b", "1", ["x"]),
    ] {
      var attributes = EntryAttributes()
      attributes.tags = tags
      try shell.store.write { batch in
        try batch.set(Array("value".utf8), for: key, in: shell.store.namespace(name), attributes)
      }
    }
    return shell
  }

  @Test func `what is written after the question stays`() throws {
    let shell = try Shell(hasPerson: true)
    var attributes = EntryAttributes()
    attributes.tags = ["x"]
    for key in ["1", "2"] {
      try shell.store.namespace("a").set(Array("old".utf8), for: key, attributes)
    }
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("a").set(Array("new".utf8), for: "2", attributes)
      try shell.store.namespace("b").set(Array("new".utf8), for: "3", attributes)
    }
    try shell("invalidate x")
    #expect(try shell("keys @*", "get @a 2").contains("new"))
    #expect(try shell.store.namespace("a").keys() == [Key("2")])
    #expect(try shell.store.namespace("b").keys() == [Key("3")])
  }

  @Test func `interrupted, it says what is left`() throws {
    let shell = try filled(.table)
    shell.stepsUntilInterrupted = 1
    #expect(
      try shell.error("invalidate y x --yes").message.description
        == "interrupted: invalidated 1 entry, 5 B; x and the tags after it are unchanged")
  }
}

@Suite struct StoppedCheckTests {
  @Test func `a check that is stopped says how far it came`() throws {
    let shell = try Shell(.table)
    let a = shell.store.namespace("a")
    try shell.store.write { batch in
      for number in 0..<3000 { try batch.set("v", for: number, in: a) }
    }
    shell.stepsUntilInterrupted = 1
    let error = try shell.error("verify")
    #expect(error.code == .interrupted)
    #expect(
      error.message.description
        == "interrupted: checked 2,000 records; the rest is unknown")
  }
}
