import Larder
import LarderShared
import LarderShell
import ShellLanguage

/// The facts that a shared tier (a Redis or Valkey server for several machines) adds to answers about a store and its entries.
extension Host {
  static func sharedFacts(of store: Store) throws -> [Fact] { try status(of: store)?.facts ?? [] }

  /// Nil without a tier. Also nil if the application encrypts values, because then the records about the tier are encrypted, too.
  private static func status(of store: Store) throws(LarderError) -> SharedStatus? {
    do { return try SharedStatus(of: store) } catch {
      guard error.code == .unreadable else { throw error }
      return nil
    }
  }

  static func sharedFacts(in namespace: Store.Namespace) throws -> ((Store.Entry) -> [Fact])? {
    guard let status = try status(of: namespace.store), status.namespaces.contains(namespace.name)
    else { return nil }
    return { [("shared", status.cell(for: $0))] }
  }
}

extension SharedStatus {
  fileprivate var state: String {
    if isConfirmed { return "confirmed" }
    return reader == nil ? "unconfirmed: no process reads the log" : "unconfirmed: out of touch"
  }

  fileprivate var facts: [Host.Fact] {
    [
      ("shared_application", .text(application ?? "never reached")), ("shared_state", .text(state)),
      ("shared_reader", reader.map { .text("process \($0)") } ?? .null),
      ("shared_position", applied.map { .text($0.description) } ?? .null),
      ("shared_newest", head.map { .text($0.description) } ?? .null),
      ("shared_behind", .span(behind.milliseconds)), ("shared_outbox", .number(waitingRemovals)),
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
