import Larder
import LarderShared
import LarderShell
import ShellLanguage

extension Additions {
  /// The facts that a shared tier (a Redis or Valkey server for several machines) adds to answers about a store and its entries.
  static var shared: Additions {
    var additions = Additions()
    additions.storeFacts = { try SharedStatus(of: $0)?.facts ?? [] }
    additions.entryFacts = { namespace in
      guard let status = try SharedStatus(of: namespace.store),
        status.namespaces.contains(namespace.name)
      else { return nil }
      return { [("shared", status.cell(for: $0))] }
    }
    return additions
  }
}

extension SharedStatus {
  fileprivate var state: String {
    if isConfirmed { return "confirmed" }
    return reader == nil ? "unconfirmed: no process reads the log" : "unconfirmed: out of touch"
  }

  fileprivate var facts: [Additions.Fact] {
    [
      ("shared_application", .text(application ?? "never reached")), ("shared_state", .text(state)),
      ("shared_reader", reader.map { .text("process \($0)") } ?? .null),
      ("shared_position", applied.map { .text($0.description) } ?? .null),
      ("shared_newest", head.map { .text($0.description) } ?? .null),
      ("shared_behind", .span(behind.milliseconds)),
      ("shared_outbox", .number(waitingRemovals)),
      ("shared_histories", .number(Int(clamping: epoch))),
      ("shared_namespaces", .list(namespaces.map { .text($0) })),
    ]
  }

  /// The version of a copy from the tier, and whether the store is up to date. An entry from elsewhere gets `not from the tier`.
  fileprivate func cell(for entry: Store.Entry) -> Cell {
    guard let version = entry.metadata.flatMap({ ValueStamp(bytes: $0) })?.version else {
      return .text("not from the tier")
    }
    return .text("\(version), \(isConfirmed ? "confirmed" : "unconfirmed")")
  }
}
