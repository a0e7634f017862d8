import Larder
import ShellLanguage

extension Command {
  static let compact = Command(
    "compact", .store, .reads, "Makes the store's file as small as it can be, or a copy of it.",
    options: [
      .value(
        "--to", .file, "make a store of it in a new directory, and leave this one as it is",
        placeholder: "DIRECTORY")
    ],
    examples: [
      Example("compact", "while nobody else has the store open"),
      Example("compact --to backup", "a copy, at any time"),
    ],
    run: compactStore)

  private static func compactStore(_ call: Invocation, in session: Session) throws -> Outcome {
    let copy = try call.bytes("--to").map { try LocalFile($0, of: session).directory() }
    guard copy != nil || !session.isReadOnly else { throw ShellError.readOnly("compact") }
    let compaction = try session.withSteps("compacting", unit: Wording.records) { shouldContinue in
      if let copy { return try session.store.copyCompacted(to: copy, shouldContinue) }
      return try session.whileClosed { path, options in
        try Store.compact(at: path, options: options, shouldContinue)
      }
    }
    guard let compaction else {
      throw ShellError(
        .interrupted, "interrupted: \(copy == nil ? "the file is as it was" : "nothing was made")",
        hint: nil)
    }
    try session.acknowledge(reply(compaction, copy, for: session.presentation))
    return .done
  }

  private static func reply(
    _ compaction: Compaction, _ copy: String?, for presentation: Presentation
  ) -> Reply {
    let sizes = [compaction.before, compaction.after]
    guard presentation.mode != .plain else {
      return Reply(
        .rows(
          ["verb", "before", "after"].map { Column($0) },
          [[.text("compact")] + sizes.map { .size($0) }]))
    }
    let arrow = presentation.hasUnicode ? "\u{2192}" : "->"
    let words = "\(Wording.size(compaction.before)) \(arrow) \(Wording.size(compaction.after))"
    let place: SafeText = copy.map { " in \(Array($0.utf8))" } ?? ""
    return Reply(
      .object(["before", "after"].map { Column($0) }, sizes.map { .size($0) }),
      sentences: ["\(words)\(place)"])
  }
}

extension Command {
  static let sync = Command(
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

extension Command {
  static let verify = Command(
    "verify", aliases: ["check"], .store, .reads,
    "Checks the store; exit code 1 if it finds a fault.",
    options: [.flag("--deep", "also decode every value, as its codec says")],
    examples: [
      Example("verify", "every record, checksum, index and count"),
      Example("verify --deep", "and whether JSON is JSON"),
    ],
    run: verifyStore)

  private static func verifyStore(_ call: Invocation, in session: Session) throws -> Outcome {
    var looked = 0
    let verified = try session.withSteps("checking", unit: Wording.records) { shouldContinue in
      try session.store.verify { done, all in
        looked = done
        return shouldContinue(done, all)
      }
    }
    guard let found = verified else {
      throw ShellError(
        .interrupted,
        "interrupted: checked \(Wording.records(looked)), which says nothing of the rest", hint: nil
      )
    }
    var faults = found.faults.map { Inconsistency($0) }
    if call.has("--deep") { faults += try Inconsistency.undecodable(in: session) }
    try session.answer(FaultReport(found, faults).reply(for: session.presentation))
    return faults.isEmpty ? .done : .told(1)
  }
}
