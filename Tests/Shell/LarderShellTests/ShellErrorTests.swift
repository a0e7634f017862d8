import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
    #expect(
      error.prompted(promptWidth: 8).hasPrefix("set a --ttl 1mo 'x\n            ^^^\nerror:"))
    let wrapped = try failure("expire a 1mo")
    #expect(
      wrapped.prompted(promptWidth: 8, columns: 15).hasPrefix("expire a 1mo\n         ^^^\n"))
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
    // An error in a file names its line. At the prompt, the line stands above the error. Without a word there is no caret.
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
