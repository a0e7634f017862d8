import LarderSystem

/// The facts that a write knows about a namespace: its record, and the rules in force.
final class KnownNamespace: Sendable {
  static let new = KnownNamespace(NamespaceRecord(id: .store, created: 0), named: "")

  let name: String
  let record: NamespaceRecord
  let rules: Rules

  init(_ record: NamespaceRecord, named name: String) {
    self.name = name
    self.record = record
    rules = record.rules.effective
  }

  var id: NamespaceID { record.id }
}
