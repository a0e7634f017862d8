import Larder
import ShellLanguage

import struct LarderShared.SharedStatus
import struct LarderShared.ValueStamp

extension Command {
  static let shared = Command(
    "shared", .store, .reads, "Shows what the store knows of a tier that machines share.",
    examples: [Example("shared", "without a connection to the tier")],
    run: showShared)

  private static func showShared(_ call: Invocation, in session: Session) throws -> Outcome {
    guard let status = try SharedStatus(of: session.store) else {
      try session.acknowledge(
        Reply(.object([], []), sentences: ["this store has no cache that machines share"]))
      return .done
    }
    let facts: [(String, Cell)] = [
      ("application", status.application.map { .text($0) } ?? .null),
      ("state", .text(status.state)),
      ("reader", status.reader.map { .text("process \($0)") } ?? .null),
      ("position", status.applied.map { .text($0.description) } ?? .null),
      ("newest", status.head.map { .text($0.description) } ?? .null),
      ("behind", .span(status.behind.milliseconds)),
      ("outbox", .number(status.waitingRemovals)),
      ("histories", .number(Int(clamping: status.epoch))),
      ("namespaces", .list(status.namespaces.map { .text($0) })),
    ]
    try session.answer(Reply(.object(facts.map { Column($0.0) }, facts.map(\.1)), isLong: true))
    return .done
  }
}

extension SharedStatus {
  fileprivate var state: String {
    if isConfirmed { return "confirmed" }
    return reader == nil ? "unconfirmed: no process reads the log" : "unconfirmed: out of touch"
  }

  /// One line for `stats`.
  var words: String {
    var words = "\(application ?? "never reached"), \(state)"
    if waitingRemovals > 0 { words += ", \(waitingRemovals) removals wait" }
    return words
  }

  /// The version of a copy, and how current it is, for `info`.
  func cell(for entry: Store.Entry) -> Cell {
    guard let version = entry.metadata.flatMap({ ValueStamp(bytes: $0) })?.version else {
      return .text("not from the tier")
    }
    return .text("\(version), \(isConfirmed ? "confirmed" : "unconfirmed")")
  }
}
