package import Larder
package import ShellLanguage

extension Command {
  static let compact = CommandSpec(
    "compact", .store, .reads, "Rewrites the file of the store as small as possible, or copies it.",
    options: [
      .value("--to", .file, "write a compact copy to a new directory", placeholder: "DIRECTORY")
    ],
    plain: ["": "verb before after"],
    examples: [
      "compact": "while no other process has the store open",
      "compact --to backup": "a copy, at any time",
    ]
  ).running { call, session in
    let copy = try call.bytes("--to").map { try session.host.directory(LocalFile.path($0)) }
    guard copy != nil || !session.isReadOnly else { throw ShellError.readOnly("compact") }
    let compaction = try ProgressLine.showSteps("compacting", in: session) { shouldContinue in
      if !session.isReadOnly { try session.store.reclaim { shouldContinue(0, nil) } }
      if let copy { return try session.store.copyCompacted(to: copy, shouldContinue) }
      return try session.whileClosed { path, options in
        try Store.compact(at: path, options: options, shouldContinue)
      }
    }
    guard let compaction else {
      throw ShellError.interrupted(copy == nil ? "the file is unchanged" : "no copy was made")
    }
    let place: SafeText = copy.map { " in \(Array($0.utf8))" } ?? ""
    let (before, after) = (compaction.before, compaction.after)
    try session.output.acknowledge(
      ["before": .size(before), "after": .size(after)],
      plain: ["verb": .text("compact"), "before": .size(before), "after": .size(after)],
      sentences: ["\(Wording.size(before)) \u{2192} \(Wording.size(after))\(place)"])
  }

  static let sync = CommandSpec(
    "sync", .store, .changes, "Writes everything so far to the disk.",
    examples: [
      "sync": "what was written before is durable now",
      "SYNC": "commands may be written in capitals",
    ],
  ).running { _, session in
    try session.store.sync()
    try session.output.acknowledge(
      ["synced": .bool(true), "durability": .text(session.store.durability.rawValue)],
      plain: ["synced": .text("synced")],
      sentences: ["synced", "\(session.store.durability.words)"])
  }

  static let verify = CommandSpec(
    "verify", aliases: ["check"], .store, .mayChange,
    "Checks the store; exit code 1 if it finds a fault.",
    options: [
      .flag("--deep", "also decode every value by its codec"),
      .flag("--repair", "mend what is found; exit code 1 if a fault stays"),
    ],
    plain: ["": "kind namespace key detail"],
    examples: [
      "verify": "every record, checksum, index and count",
      "verify --deep": "and whether JSON is JSON",
      "verify --repair": "indexes and counts again, damaged entries removed",
    ]
  ).running { call, session -> Outcome in
    var looked = 0
    let verified = try ProgressLine.showSteps("checking", in: session) { shouldContinue in
      try session.store.verify { done, all in
        looked = done
        return shouldContinue(done, all)
      }
    }
    guard let found = verified else {
      throw ShellError.interrupted("checked \(Wording.records(looked)); the rest is unknown")
    }
    var faults = found.faults.map {
      Inconsistency(
        kind: $0.kind.rawValue, namespace: $0.namespace, key: $0.key?.bytes, detail: $0.detail)
    }
    var staying: Int?
    if call.has("--repair") {
      let left = try ProgressLine.showSteps("repairing", in: session) { shouldContinue in
        try session.store.repair(found) { shouldContinue($0, found.faults.count) }
      }
      session.undo.hasChanged = !found.isSound
      guard let left else {
        throw ShellError.interrupted(
          "some faults are mended", hint: "`verify --repair` mends the others")
      }
      staying = left.count
    }
    var notes: [SafeText] = []
    var failure: (any Error)?
    if call.has("--deep") {
      do {
        try Inconsistency.findUndecodable(in: session) { faults += $0 }
      } catch let error as LarderError where error.code == .damaged && !found.isSound {
        notes.append("not every value was decoded: \(error.message)")
      } catch let error where staying != nil || !found.isSound {
        // The answer must tell of the repair and of the faults.
        failure = error
      }
    }
    let report = FaultReport(found: found, faults: faults, staying: staying)
    try session.output.write(session.output.presentation.bytes(of: report.reply))
    if let remedy = report.remedy { notes.append(remedy) }
    for note in notes { try session.host.notify("note: \(note)") }
    if let failure { throw failure }
    let left = faults.count - found.faults.count + (staying ?? found.faults.count)
    return left == 0 ? .done : .exitCode(1)
  }

  static let salvage = CommandSpec(
    "salvage", .store, .reads, "Copies everything readable of a damaged store into a new one.",
    parameters: [.one("DIRECTORY", .file)],
    plain: ["": "entries bytes namespaces found left_out damaged pages"],
    examples: [
      "salvage rescued": "entries that are whole, and what was lost",
      "salvage /var/tmp/rescued": "the damaged store stays as it is",
    ],
  ).running { call, session in
    let target = try session.host.directory(LocalFile.path(call.bytes("DIRECTORY")!))
    let salvage = try ProgressLine.showSteps("salvaging", in: session) { shouldContinue in
      try session.whileClosed(needsCommit: false) { path, options in
        try Salvage.run(path, target, options) { shouldContinue($0, nil) }
      }
    }
    try session.output.acknowledge(salvage.reply)
    try salvage.checkSaved()
  }
}

extension Salvage {
  package static func run(
    _ path: String, _ target: String, _ options: Store.Options,
    while shouldContinue: @escaping (Int) -> Bool
  ) throws -> Salvage {
    var made = Store.Options()
    made.lockTimeout = options.lockTimeout
    let salvage = try ShellError.translating {
      try Store.salvage(from: path, to: target, options: made, while: shouldContinue)
    }
    guard let salvage else { throw ShellError.interrupted("no store was made") }
    return salvage
  }

  /// Throws if no entry was saved, and the old store is damaged or has compressed or encrypted entries.
  package func checkSaved() throws(ShellError) {
    guard entries == 0, !isComplete || transformed > 0 else { return }
    throw ShellError(
      .damaged, "no entry could be saved",
      hint: "the new store is empty: remove it, and `import` an export")
  }

  package var reply: Reply {
    let places = Wording.count(damage.count, "page or record", "pages or records")
    let lost: SafeText =
      isComplete ? "nothing is damaged" : "damaged: \(Wording.entries(damagedEntries)), \(places)"
    let spaces = Wording.count(namespaces, "namespace", "namespaces")
    var lines: [SafeText] = [
      "saved \(Wording.entries(entries)) in \(spaces), \(Wording.size(bytes))"
    ]
    if leftOut > 0 {
      let entries = Wording.entries(leftOut)
      lines.append("left out: \(entries) (expired, removed, compressed or encrypted)")
    }
    lines.append(lost)
    return Reply(
      [
        "entries": .number(entries), "bytes": .size(bytes), "namespaces": .number(namespaces),
        "found": .number(found), "left_out": .number(leftOut),
        "damaged": .number(damagedEntries), "pages": .number(damage.count),
      ],
      sentences: lines + damage.prefix(20).map { "  \($0)" })
  }
}
