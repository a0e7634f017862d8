package import Larder
package import ShellLanguage

extension Command {
  static let salvage = Command(
    "salvage", .store, .reads, "Copies everything readable of a damaged store into a new one.",
    parameters: [.one("DIRECTORY", .file)],
    examples: [
      Example("salvage rescued", "entries that are whole, and what was lost"),
      Example("salvage /var/tmp/rescued", "the damaged store stays as it is"),
    ],
    run: salvageStore)

  private static func salvageStore(_ call: Invocation, in session: Session) throws -> Outcome {
    let target = try LocalFile(call.bytes("DIRECTORY")!, of: session).directory()
    let salvage = try session.whileClosed { path, options in
      try Salvage.run(path, target, options)
    }
    try session.acknowledge(salvage.reply)
    return .done
  }
}

extension Salvage {
  /// - Parameter options: those that the store was opened with.
  package static func run(
    _ path: String, _ target: String, _ options: Store.Options
  ) throws(ShellError) -> Salvage {
    var made = Store.Options()
    made.lockTimeout = options.lockTimeout
    do throws(LarderError) {
      return try Store.salvage(from: path, to: target, options: made)
    } catch {
      throw ShellError(error)
    }
  }

  /// A line for a store that could not be opened.
  package var summary: String {
    "saved \(Wording.entries(entries)); damaged: \(Wording.entries(damagedEntries)), "
      + Wording.count(damage.count, "page", "pages")
  }

  /// What the command answers.
  fileprivate var reply: Reply {
    let columns = [
      "entries", "bytes", "namespaces", "found", "expired", "damaged", "pages",
    ]
    let lost: SafeText =
      isComplete
      ? "nothing is damaged"
      : "damaged: \(Wording.entries(damagedEntries)), \(Wording.count(damage.count, "page", "pages"))"
    let saved = Wording.entries(entries)
    let spaces = Wording.count(namespaces, "namespace", "namespaces")
    return Reply(
      .object(
        columns.map { Column($0, in: .data) },
        [
          .number(entries), .size(bytes), .number(namespaces), .number(found), .number(leftOut),
          .number(damagedEntries), .number(damage.count),
        ]),
      sentences: ["saved \(saved) in \(spaces), \(Wording.size(bytes))", lost]
        + damage.prefix(20).map { "  \($0)" })
  }
}
