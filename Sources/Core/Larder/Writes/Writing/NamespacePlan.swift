/// The state of a namespace after writes that are only planned. It refuses what a batch would refuse, by the same checks; it knows
/// neither the room on the disk nor which entries a limit would evict.
package struct NamespacePlan {
  private let name: String
  private let limits: StoreLimits
  private var rules = NamespaceRecord.RuleSet()
  /// The fresh entries, because expired ones make room before a write is refused. Counted only where a limit refuses writes.
  private var counters = NamespaceCounters()
  package private(set) var isNew = true

  package init(_ namespace: Store.Namespace) throws(LarderError) {
    name = namespace.name
    let engine = namespace.engine
    limits = try engine.metadata.settings(in: engine.beginRead()).limits
    guard let info = try namespace.info() else { return }
    isNew = false
    rules = NamespaceRecord.RuleSet(declared: info.declared, overrides: info.overrides)
    guard refuses else { return }
    var (entries, bytes) = (UInt64(0), UInt64(0))
    try engine.typed {
      try namespace.scanEntries { entry, _ in
        entries += 1
        bytes += UInt64(entry.size)
        return true
      }
    }
    (counters.entries, counters.bytes) = (entries, bytes)
  }

  private var refuses: Bool {
    let rules = rules.effective
    return rules.eviction == .refuse && rules.limits.evicts
  }

  /// Makes the namespace, with these rules.
  package mutating func declare(
    _ declared: Rules, _ overrides: Rules.Overrides?
  ) throws(LarderError) {
    try NamespaceName.validate(name)
    rules = NamespaceRecord.RuleSet(declared: declared, overrides: overrides ?? Rules.Overrides())
    try rules.declared.validate()
    try rules.effective.validate()
    isNew = false
  }

  /// Stores a value in place of one of `replaced` bytes, or of none.
  package mutating func set(
    _ size: Int, for key: [UInt8], _ attributes: EntryAttributes, replacing replaced: Int?
  ) throws(LarderError) {
    try Key.validate(count: key.count, in: name)
    let rules = rules.effective
    try SpaceBudget(limits).checkSize(size, under: rules, named: name)
    _ = try attributes.fields(longKey: key, owners: [], nil)
    try NamespaceName.validate(name)
    for owner in attributes.owners { try NamespaceName.validate(owner.namespace) }
    isNew = false
    guard refuses else { return }
    counters.bytes &+= UInt64(size)
    if let replaced { counters.bytes &-= UInt64(replaced) } else { counters.entries &+= 1 }
    if rules.limits.exceeded(by: counters) != nil {
      throw SpaceBudget.full(name, rules, pinned: 0)
    }
  }
}
