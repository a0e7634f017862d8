import LarderSystem

/// A namespace in the view of writes: its record, and the rules in force.
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

  func isNamed(_ name: String) -> Bool { ExactString(self.name) == ExactString(name) }
}

/// The namespaces that a batch has looked up.
struct KnownNamespaces {
  private(set) var latest: KnownNamespace?
  private var others: [ExactString: KnownNamespace] = [:]

  mutating func find(_ name: String) -> KnownNamespace? {
    if let latest, latest.isNamed(name) { return latest }
    guard !others.isEmpty, let known = others[ExactString(name)] else { return nil }
    add(known)
    return known
  }

  mutating func add(_ known: KnownNamespace) {
    if let latest { others[ExactString(latest.name)] = latest }
    latest = known
  }

  mutating func remove(_ name: String) {
    if latest?.isNamed(name) == true { latest = nil }
    others[ExactString(name)] = nil
  }
}
