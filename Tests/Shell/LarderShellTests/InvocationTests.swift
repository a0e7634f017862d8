import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct InvocationTests {
  @Test func `a command is found by any of its names, and its words are read by kind`() throws {
    for name in ["keys", "KEYS", "list", "List"] {
      #expect(try invocation(name).command.name == "keys")
    }
    let get = try invocation("get a b --as 'HEX' --head 1kB")
    #expect(get.choice("--as") == "hex" && get.number("--head") == 1000)
    #expect(try invocation("get --stdin .a").path(".PATH") != nil)
    #expect(try invocation("set k v --ttl=15m").duration("--ttl") == .seconds(900))
    #expect(try invocation("set k --from - --until never").deadline("--until") == .never)
    #expect(try invocation("set k --from=-").bytes("--from") == bytes("-"))
    #expect(
      try invocation("echo a 'b c' *").allBytes("TEXT") == [bytes("a"), bytes("b c"), bytes("*")])
    #expect(try invocation("use @departures").namespaceNames("NS").map(\.text) == ["departures"])
    #expect(try invocation("? times").bytes("COMMAND|TOPIC") == bytes("times"))
  }
}

@Suite struct CommandTableTests {
  private let table = CommandTable.standard

  @Test func `only what changes the store is refused read-only`() {
    #expect(
      Set(table.commands.filter { $0.access == .changes }.map(\.name)) == [
        "set", "touch", "expire", "persist", "evict", "purge", "clear", "pin", "unpin", "rename",
        "import", "sync", "invalidate", "edit", "undo",
      ])
  }

  @Test func `every command has a sentence, names of its own, and examples that run`() throws {
    #expect(Set(table.names).count == table.names.count)
    for command in table.commands {
      let names = command.options.map(\.name)
      #expect(Set(names).count == names.count, "\(command.name)")
      // A command without parameters and options needs only one example.
      let fewest = command.parameters.isEmpty && command.options.isEmpty ? 1 : 2
      #expect(command.summary.hasSuffix("."), "\(command.name)")
      #expect((fewest...4).contains(command.examples.count), "\(command.name)")
      for example in command.examples {
        #expect(try invocation(example.key).command.name == command.name, "\(example.key)")
      }
    }
  }
}

@Suite struct ShellErrorTests {
  private func failure(_ text: String) throws -> ShellError {
    try error {
      for command in try CommandReader.commands(in: bytes(text), from: .prompt) {
        _ = try CommandTable.standard.invocation(of: command, clock: stockholm)
      }
    }
  }

  @Test func `a line that is not right above is shown again`() throws {
    let error = try failure("set a --ttl 1mo 'x\ny'")
    #expect(error.prompted(promptWidth: 8).hasPrefix("set a --ttl 1mo 'x\n            ^^^\nerror:"))
    let wrapped = try failure("expire a 1mo")
    #expect(wrapped.prompted(promptWidth: 8, columns: 15).hasPrefix("expire a 1mo\n         ^^^\n"))
    let long = try failure("expire " + String(repeating: "a", count: 60) + " 1mo")
    #expect(
      long.prompted(promptWidth: 8, columns: 30).hasPrefix(
        "\u{2026}aaaaaaaaaaaaa 1mo\n               ^^^\nerror:"),
      "\(long.prompted(promptWidth: 8, columns: 30))")
  }

  @Test func `a failure while running points at the command`() throws {
    let line = try CommandReader.commands(in: bytes("# x\n  export a"), from: .file("s"))[0]
    let error = line.locate(ShellError(.full, "no space left on device", hint: nil))
    #expect(error.scripted == "error: s:2:3: no space left on device\n")
    // An error in a file names the line, at the prompt and in a script. An error in a typed line names no line, because the
    // line stands above the error. Neither error has a caret, because no word is wrong.
    #expect(error.prompted(promptWidth: 8) == error.scripted)
    let typed = try command("export a")
    let other = typed.locate(ShellError(.full, "no space left on device", hint: nil))
    #expect(other.prompted(promptWidth: 8) == "error: no space left on device\n")
  }

  @Test func `every error has one exit code`() {
    let errors = ExitCode.all.flatMap { $0.errors }
    #expect(errors.count == ShellError.Code.allCases.count)
    #expect(Set(errors) == Set(ShellError.Code.allCases))
  }
}
