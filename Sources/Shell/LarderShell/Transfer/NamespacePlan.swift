import Larder

/// The state of a namespace after writes that are only planned. It refuses what a write would refuse, by the same checks; it
/// knows neither the room on the disk nor which entries a limit would evict.
struct NamespacePlan {
  private let namespace: Store.Namespace
  private let limits: StoreLimits
  private var rules = Rules()
  /// The fresh entries, because expired ones make room before a write is refused. Counted only where a limit refuses writes.
  private var entries = 0
  private var bytes = 0
  private(set) var isNew = true

  init(_ namespace: Store.Namespace) throws {
    self.namespace = namespace
    limits = try namespace.store.limits().effective
    guard let info = try namespace.info() else { return }
    isNew = false
    rules = info.rules
    guard refuses else { return }
    var (entries, bytes) = (0, 0)
    try namespace.scanEntries { entry, _ in
      entries += 1
      bytes += entry.size
      return true
    }
    (self.entries, self.bytes) = (entries, bytes)
  }

  private var refuses: Bool {
    rules.eviction == .refuse && (rules.limits.entries != nil || rules.limits.bytes != nil)
  }

  /// Makes the namespace, with these rules.
  mutating func declare(_ declared: Rules, _ overrides: Rules.Overrides?) throws {
    try namespace.check(declared)
    rules = overrides?.applied(to: declared) ?? declared
    try namespace.check(rules)
    isNew = false
  }

  /// Stores a value in place of one of `replaced` bytes, or of none.
  mutating func set(
    _ size: Int, for key: [UInt8], _ attributes: EntryAttributes, replacing replaced: Int?
  ) throws {
    try namespace.check(size, for: key, attributes, under: rules, limits)
    isNew = false
    guard refuses else { return }
    bytes += size - (replaced ?? 0)
    if replaced == nil { entries += 1 }
    if entries > rules.limits.entries ?? .max || bytes > rules.limits.bytes ?? .max {
      throw LarderError.full(namespace.name, rules)
    }
  }
}
