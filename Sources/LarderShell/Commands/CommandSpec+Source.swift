extension CommandSpec {
  static let source = CommandSpec(
    "source", .shell, .reads, "Runs the commands of a file, up to the first error.",
    parameters: [.one("FILE", .file)],
    examples: [
      Example("source nightly.larder", "they do not go into the history"),
      Example("source 'my commands.larder'", "a name with a space"),
    ],
    run: runFile)

  /// A file that runs itself would never end.
  private static let deepest = 16

  private static func runFile(_ call: Invocation, in session: Session) throws -> Outcome {
    let file = try LocalFile(call.bytes("FILE")!, of: session)
    guard session.sourceDepth < deepest else {
      throw ShellError(
        .usage, "\(Array(file.path.utf8)) is the \(deepest + 1)th file within a file",
        hint: "a file must not run itself")
    }
    session.sourceDepth += 1
    defer { session.sourceDepth -= 1 }
    // All is read before anything is run: a mistake in the grammar is found before half is done.
    for line in try CommandReader.commands(in: file.contents(), from: .file(file.path)) {
      if session.host.isInterrupted() { throw Interruption() }
      let outcome = try session.run(line)
      guard outcome == .done else { return outcome }
    }
    return .done
  }
}
