/// An access table with a slot of its own for every key: what the tagged one is measured against, and right for memory.
struct ExactTable: AccessTable {
  static let name = "exact"
  private let lifetime: Int
  private var marks: [AccessStats]
  private var ghosts: [(evicted: Int, part: Part, frequency: Int)]
  private var evictions: Int

  init(entries: Int, keys: Int) {
    lifetime = ghostsPerEntry * entries
    evictions = lifetime
    marks = Array(repeating: AccessStats(), count: keys)
    ghosts = Array(repeating: (0, .window, 0), count: keys)
  }

  func mark(of key: Int) -> AccessStats { marks[key] }
  mutating func setMark(_ mark: AccessStats, of key: Int) { marks[key] = mark }
  mutating func removeMark(of key: Int) { marks[key] = AccessStats() }

  mutating func halveFrequencies() {
    for key in marks.indices { marks[key].frequency /= 2 }
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
