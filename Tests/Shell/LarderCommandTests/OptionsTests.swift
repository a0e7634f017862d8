import Testing

@testable import LarderCommand
@testable import ShellLanguage

@Suite struct OptionsTests {
  @Test(arguments: [
    ("-0", true), ("-0 -o plain", true), ("-0 -o raw", true), ("-0 -o csv", false),
    ("-o json -0", false), ("-0 -o table", false),
  ])
  func `a NUL ends lines of plain output only`(text: String, isAllowed: Bool) {
    let words = (text.split(separator: " ").map(String.init) + ["store"]).map { Array($0.utf8) }
    let options = Result { () throws(ShellError) in try Options(words) }
    #expect(((try? options.get()) != nil) == isAllowed)
  }

  /// Errors are JSON if the arguments select it, however the option is written and whichever argument is wrong.
  @Test(arguments: [
    "-o json", "-ojson", "-o=json", "-o JSON", "--output json", "--output=JSON", "-kojson",
    "--bogus -o json", "-o json --bogus", "-e", "-o json -e", "-o text", "-o",
  ])
  func `the form of output is known though an argument is wrong`(text: String) {
    var mode = OutputMode.auto
    let words = (["--nope"] + text.split(separator: " ").map(String.init)).map { Array($0.utf8) }
    #expect(throws: ShellError.self) { try Options(words, mode: &mode) }
    #expect(mode == (text.lowercased().contains("json") ? .json : .auto))
  }
}
