/// The facts that a write knows about a namespace: its record, and the rules in force.
final class KnownNamespace: Sendable {
  static let new = KnownNamespace(NamespaceRecord(id: .store, created: 0), named: "")

  let name: String
  let record: NamespaceRecord
  let rules: Rules
  /// The bytes of the record in the store.
  let saved: [UInt8]

  init(_ record: NamespaceRecord, named name: String, saved: [UInt8] = []) {
    self.name = name
    self.record = record
    self.saved = saved
    rules = record.rules.effective
  }

  var id: NamespaceID { record.id }

  /// Bytes that a write to another namespace cannot evict.
  var guaranteed: UInt64 { UInt64(clamping: rules.limits.guaranteed ?? 0) }

  /// The position of a written entry. An overwrite keeps the position, except with `fifo` and after a pin.
  func queuePosition(of previous: EntryHeader?, version: UInt64) -> UInt64 {
    guard let previous, previous.sequence != 0, rules.eviction != .fifo else { return version }
    return previous.sequence
  }
}
