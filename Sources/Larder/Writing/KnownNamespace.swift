/// A namespace as writes know it: what the catalogue says, and the rules that come of it.
final class KnownNamespace: Sendable {
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
