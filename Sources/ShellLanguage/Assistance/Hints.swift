/// The dim text behind the cursor: the arguments that can follow.
package struct Hints: Sendable {
  package let table: CommandTable

  package init(_ table: CommandTable) { self.table = table }

  /// Nil unless the line ends with a space behind words of a known command.
  package func hint(behind line: [UInt8]) -> String? {
    guard line.last == .space || line.last == .tab else { return nil }
    var lexer = Lexer()
    do throws(ShellError) {
      try lexer.scan(line)
    } catch {
      return nil
    }
    guard lexer.open == nil, lexer.current == nil, let first = lexer.words.first,
      let name = first.bareText, let command = table.command(named: name)
    else { return nil }
    let state = ArgumentState(Array(lexer.words.dropFirst()), of: command)
    if let option = state.openOption { return option.placeholder }
    var pieces: [String] = []
    if state.filled == 0, state.namespaces == .unnamed {
      pieces = command.argumentUsage
    } else {
      pieces = command.parameters.dropFirst(state.filled).map(\.usage)
      if command.selection != nil { pieces += command.trailing.map(\.usage) }
      pieces += command.ownOptions.filter { !state.given.contains($0.name) }
        .map { "[\($0.usage)]" }
    }
    return pieces.isEmpty ? nil : pieces.joined(separator: " ")
  }
}
