import Larder

extension CommandSpec {
  static let sync = CommandSpec(
    "sync", .store, .changes, "Puts everything written so far on the disk.",
    examples: [
      Example("sync", "when it answers, all before it is durable"),
      Example("SYNC", "commands may be written in capitals"),
    ],
    run: syncStore)

  private static func syncStore(_ call: Invocation, in session: Session) throws -> Outcome {
    try session.store.sync()
    try session.acknowledge(
      session.presentation.mode == .plain
        ? Reply(.text("synced\n"))
        : Reply(.object([Column("synced")], [.bool(true)]), sentences: ["synced"]))
    return .done
  }
}
