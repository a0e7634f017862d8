import ExampleTesting

/// Outputs and addresses of all programs.
@Suite struct ProgramOutputTests {
  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "skipped: no full device"),
    arguments: ProgramShapeTests.Program.all)
  func `output that cannot be written is an error, but for a reader that has gone`(
    program: ProgramShapeTests.Program
  ) async throws {
    let folder = try TemporaryFolder()
    let silent = try await Outcome(line: "\(program.name) frobnicate 2>/dev/full")
    #expect(silent.code == 2, "nobody can be told")
    let command = program.command.joined(separator: " ")
    for arguments in [command, "\(command) --json", "--help", "--version"] {
      let run = "cd '\(folder.url.path)' && \(program.name) \(arguments)"
      let full = try await Outcome(line: "\(run) >/dev/full")
      #expect(full.code == 4, "\(arguments): \(full)")
      #expect(full.error == "error: standard output cannot be written: No space left on device\n")
      for ignored in ["", "trap '' PIPE; "] {
        // The reader ends at once.
        let gone = try await Outcome(line: "\(ignored)\(run) | true")
        #expect(gone.error == "", "\(arguments)")
      }
    }
  }

  @Test(arguments: ProgramShapeTests.Program.all)
  func `an empty address is a usage error`(program: ProgramShapeTests.Program) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    let outcome = try await tested.run(program.protected + [""])
    #expect(outcome.code == 2 && outcome.error.contains("The value '' is invalid"), "\(outcome)")
    let help = try await Outcome(of: [program.name] + program.protected.prefix(1) + ["--help"])
    #expect(program.page == "Departures" || help.output.contains(" https://"))
  }

  @Test(arguments: ProgramShapeTests.Program.all)
  func `an address in capitals with a slash at its end is the same, as is a credential with blanks`(
    program: ProgramShapeTests.Program
  ) async throws {
    let tested = try TestedProgram(program.name, store: "store")
    try await LocalServer.run { server in
      server.become { _ in .init(401) }
      for (address, credential) in [
        (server.base, "abc"), (server.base.replacing("http", with: "HTTP") + "/", " abc\n"),
      ] {
        let options = program.credential.map { [$0, credential] } ?? []
        let outcome = try await tested.run(program.protected + [address] + options)
        #expect(outcome.code == 5, "\(outcome)")
      }
      let asked = server.received.map { [$0.path, $0.fields["authorization"]] }
      #expect(asked.count.isMultiple(of: 2) && !asked.isEmpty, "\(asked)")
      #expect(asked.prefix(asked.count / 2) == asked.suffix(asked.count / 2), "\(asked)")
    }
  }
}
