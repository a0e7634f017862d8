import Larder
import ShellLanguage

extension BrowseLoop {
  func perform(_ command: BrowseCommand) throws {
    switch command {
    case .leave: hasEnded = true
    case .suspend:
      try screen.suspend()
      shown = nil
      state.size = screen.size()
      state.pending = state.pending ?? .refresh
    case .reload:
      try reload()
      try reader.recount()
      state.total = nil
      state.value = nil
      state.pending = state.pending ?? .refresh
      state.message = BrowseState.Message(text: "read again")
    case .copy(let entry):
      let words = ["copy", "@\(entry.namespace)", "--"].map { Array($0.utf8) } + [entry.key.bytes]
      state.message = try answer([words])
    case .check(let change):
      let message = try answer(change.commands("--dry-run"))
      guard message.isError else {
        state.question = change
        return
      }
      state.message = message
      if case .expire(let time) = change.verb {
        state.input = BrowseState.Input(
          purpose: .expiry(change.entries), text: time, before: "")
      }
    case .change(let change):
      state.message = try answer(change.commands("--yes"))
      state.marks = [:]
      state.pending = state.pending ?? .refresh
      try reload()
      if reader.total != nil { try reader.recount() }
    }
  }

  /// Runs commands of the shell; the message is what they say.
  private func answer(_ commands: [[[UInt8]]]) throws -> BrowseState.Message {
    said = []
    for words in commands {
      do {
        _ = try session.run(CommandReader.command(of: words))
      } catch let error as ShellError {
        let hint = error.hint.map { "; \($0)" as SafeText } ?? ""
        return BrowseState.Message(text: error.message + hint, isError: true)
      }
    }
    let text = said.joined(separator: "; ").split(separator: "\n").joined(separator: "; ")
    return BrowseState.Message(text: SafeText(text))
  }
}
