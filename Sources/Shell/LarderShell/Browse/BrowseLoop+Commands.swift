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
      state.message = try answer {
        [
          try CommandReader.command(
            "get", in: entry.namespace, options: ["--copy"], data: [entry.key.bytes])
        ]
      }
    case .check(let change):
      choose(change)
      defer { session.chosen = nil }
      guard let message = try problem(with: change) else {
        state.question = change
        return
      }
      state.message = message
      if case .expire(let time) = change.verb {
        state.input = BrowseState.Input(
          purpose: .expiry(change.entries), text: time, before: "")
      }
    case .change(let change):
      choose(change)
      defer { session.chosen = nil }
      state.message = try problem(with: change) ?? answer { try change.commands("--yes") }
      state.marks = [:]
      state.pending = state.pending ?? .refresh
      try reload()
      if reader.total != nil { try reader.recount() }
    }
  }

  private func choose(_ change: BrowseChange) {
    session.chosen = Dictionary(change.entries.map { (EntryID($0), $0.version) }) { $1 }
  }

  /// Why a change is not made: its commands fail, or some of its entries are gone or were written again.
  private func problem(with change: BrowseChange) throws -> BrowseState.Message? {
    let mode = session.settings.mode
    session.settings.mode = .plain
    defer { session.settings.mode = mode }
    let message = try answer { try change.commands("--dry-run") }
    guard !message.isError else { return message }
    // A line for each namespace: verb, namespace, entries, bytes.
    let counts = said.joined().split(separator: "\n").compactMap { line -> Int? in
      let fields = line.split(separator: "\t")
      return fields.count == 4 ? Int(fields[2]) : nil
    }
    guard counts.reduce(0, +) != change.entries.count else { return nil }
    return BrowseState.Message(text: "the entries have changed; choose them again", isError: true)
  }

  /// Runs commands of the shell; the message is what they say.
  private func answer(_ commands: () throws -> [CommandLine]) throws -> BrowseState.Message {
    said = []
    do {
      for command in try commands() { _ = try session.run(command) }
    } catch let error as ShellError {
      let hint = error.hint.map { "; \($0)" as SafeText } ?? ""
      return BrowseState.Message(text: error.message + hint, isError: true)
    }
    let text = said.joined(separator: "; ").split(separator: "\n").joined(separator: "; ")
    return BrowseState.Message(text: SafeText(text))
  }
}
