import LarderTerminal
import ShellLanguage

struct Messages {
  var isJSON: Bool

  func tell(_ error: ShellError) -> Int32 {
    write(isJSON ? error.json : error.scripted)
    return error.code.exitCode
  }

  /// A failure to write a message is ignored: there is no other place to report it.
  func write(_ text: String) {
    do throws(TerminalError) {
      let columns = isJSON ? nil : Terminal.size(of: .error)?.columns
      try Terminal.write(DisplayWidth.wrap(text, columns: columns, indent: 2), to: .error)
    } catch {
      return
    }
  }
}
