extension CommandSpec {
  static let history = CommandSpec(
    "history", .shell, .reads, "Lists what was typed at the prompt, the last at the end.",
    parameters: [.optional("N", .text), .optional("TEXT", .text)],
    examples: [
      Example("history", "the last 20"),
      Example("history 100 evict", "the last 100 that hold a word"),
    ],
    run: listHistory)

  private static func listHistory(_ call: Invocation, in session: Session) throws -> Outcome {
    var words = [call.bytes("N"), call.bytes("TEXT")].compactMap(\.self)
    var count = 20
    // A word that is no number is what to look for.
    if let first = words.first, first.allSatisfy(\.isDigit) {
      guard let number = Int(String(decoding: first, as: UTF8.self)) else {
        throw ShellError(.usage, "\(first) is too large", hint: "say history 100")
      }
      count = number
      words.removeFirst()
    }
    guard words.count <= 1 else {
      throw ShellError(.usage, "\(words[0]) is not a whole number", hint: "say history 20 TEXT")
    }
    let lines = try session.host.history().enumerated().filter { _, line in
      words.isEmpty || Array(line.utf8).span.contains(words[0])
    }
    try session.answer(
      Reply(
        .rows(
          [Column("number", title: ""), Column("line", title: "")],
          lines.suffix(count).map { [.number($0.offset + 1), .text($0.element)] })))
    return .done
  }
}
