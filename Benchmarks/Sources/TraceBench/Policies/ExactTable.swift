/// An access table with a slot for every key. The tagged table is compared with this table. The memory tier of the store uses
/// such a table.
struct ExactTable: AccessTable {
  static let name = "exact"
  private let lifetime: Int
  private var slots: [AccessStats]
  private var ghosts: [(evicted: Int, part: Part, frequency: Int)]
  private var evictions: Int

  init(entries: Int, keys: Int) {
    lifetime = ghostsPerEntry * entries
    evictions = lifetime
    slots = Array(repeating: AccessStats(), count: keys)
    ghosts = Array(repeating: (0, .window, 0), count: keys)
  }

  func stats(of key: Int) -> AccessStats { slots[key] }
  mutating func setStats(_ stats: AccessStats, of key: Int) { slots[key] = stats }
  mutating func removeStats(of key: Int) { slots[key] = AccessStats() }

  mutating func halveFrequencies() {
    for key in slots.indices { slots[key].frequency /= 2 }
  }

  mutating func takeGhost(of key: Int) -> Ghost? {
    let ghost = ghosts[key]
    ghosts[key].evicted = 0
    let age = evictions - ghost.evicted
    return age < lifetime ? Ghost(age: age, part: ghost.part, frequency: ghost.frequency) : nil
  }

  mutating func putGhost(of key: Int, part: Part, frequency: Int) {
    ghosts[key] = (evictions, part, frequency)
    evictions += 1
  }
}
