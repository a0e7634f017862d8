@testable import Larder

/// A model of a store. The model keeps the entries in dictionaries, and must give the same answers as the store.
struct Model {
  struct Entry: Equatable {
    var value: [UInt8]
    var written: Int64
    var expires: Int64
    var staleUntil: Int64
    var tags: [String] = []
    var entityTag: [UInt8]?
    var isPinned = false

    func state(at now: Int64) -> Store.Entry.State {
      if expires == .max { return .fresh }
      if now >= staleUntil { return .expired }
      if now >= expires || written - 60_000 > now { return .stale }
      return .fresh
    }
  }

  struct Space {
    var entries: [[UInt8]: Entry] = [:]
    var rules = Rules()
    /// Expired entries that reads have found, and that the next commit removes.
    var asked: Set<[UInt8]> = []
    var removals: [RemovalReason: UInt64] = [:]
    var bytes: Int { entries.values.reduce(0) { $0 + $1.value.count } }
  }

  var spaces: [String: Space] = [:]
  var now: Int64
  /// The time of the last write or purge.
  var stamp: Int64 = 0
  /// The monotonic clock, in milliseconds.
  var monotonic: Int64 = 0
  /// The values of both clocks when the store was opened.
  var opened: (now: Int64, monotonic: Int64) = (0, 0)

  func entry(_ key: [UInt8], in name: String) -> Entry? { spaces[name]?.entries[key] }

  func fresh(_ key: [UInt8], in name: String) -> [UInt8]? {
    entry(key, in: name).flatMap { $0.state(at: now) == .fresh ? $0.value : nil }
  }

  mutating func get(_ key: [UInt8], in name: String) -> [UInt8]? {
    if entry(key, in: name)?.state(at: now) == .expired { spaces[name]?.asked.insert(key) }
    return fresh(key, in: name)
  }

  private func end(_ expiration: Expiration, stale: Duration) -> (expires: Int64, stale: Int64) {
    switch expiration {
    case .never: (.max, .max)
    case .after(let duration):
      (now + milliseconds(duration), now + milliseconds(duration) + milliseconds(stale))
    case .at(let moment): (moment.milliseconds, moment.milliseconds + milliseconds(stale))
    case .daily, .afterAccess: preconditionFailure("the model makes no such entries")
    }
  }

  private func milliseconds(_ duration: Duration) -> Int64 {
    Int64((duration / .milliseconds(1)).rounded(.up))
  }

  mutating func put(
    _ value: [UInt8], for key: [UInt8], in name: String, attributes: EntryAttributes
  ) {
    var space = spaces[name] ?? Space()
    let (expires, staleUntil) = end(
      attributes.expires ?? space.rules.expires, stale: attributes.stale ?? space.rules.stale)
    if space.entries[key] != nil { space.removals[.replaced, default: 0] += 1 }
    space.entries[key] = Entry(
      value: value, written: now, expires: expires, staleUntil: staleUntil, tags: attributes.tags,
      entityTag: attributes.entityTag,
      isPinned: attributes.isPinned ?? space.entries[key]?.isPinned ?? false)
    spaces[name] = space
    recordWriteTime()
  }

  mutating func remove(_ key: [UInt8], in name: String) -> Bool {
    guard let entry = spaces[name]?.entries.removeValue(forKey: key) else { return false }
    let isExpired = entry.state(at: now) == .expired
    spaces[name]!.removals[isExpired ? .expired : .removed, default: 0] += 1
    return !isExpired
  }

  mutating func touch(_ key: [UInt8], in name: String, expires: Expiration?) -> Bool {
    guard var entry = entry(key, in: name), entry.state(at: now) != .expired else { return false }
    let rules = spaces[name]!.rules
    // An entry keeps its stale window. An entry without an expiry has no stale window, so the window comes from the rules.
    let window =
      entry.expires == .max ? rules.stale : .milliseconds(entry.staleUntil - entry.expires)
    (entry.expires, entry.staleUntil) = end(expires ?? rules.expires, stale: window)
    entry.written = min(entry.written, now)
    spaces[name]!.entries[key] = entry
    recordWriteTime()
    return true
  }

  /// Whether `stamp` is 0, or the clock is at most a day ahead of `stamp` plus the time since then with the store open.
  var isClockPlausible: Bool {
    let day: Int64 = 86_400_000
    let gap = now - stamp
    if stamp == 0 || gap <= day { return true }
    let passed = max(0, monotonic - opened.monotonic) - max(0, stamp - opened.now)
    return gap - max(0, passed) <= day
  }

  private mutating func recordWriteTime() { if isClockPlausible { stamp = now } }

  /// Makes the removals that each commit of the store makes. If the clock is not plausible, expired entries stay.
  mutating func settle() {
    for name in spaces.keys {
      for key in spaces[name]!.asked
      where isClockPlausible && entry(key, in: name)?.state(at: now) == .expired {
        _ = remove(key, in: name)
      }
      spaces[name]!.asked = []
    }
  }

  mutating func purge(only: String?) -> RemovalResult {
    var removal = RemovalResult()
    for name in spaces.keys where only == nil || name == only {
      for (key, entry) in spaces[name]!.entries where entry.state(at: now) == .expired {
        _ = remove(key, in: name)
        removal += RemovalResult(entries: 1, bytes: entry.value.count)
      }
    }
    if only.map({ spaces[$0] != nil }) ?? true { stamp = now }
    return removal
  }

  mutating func clear(_ name: String) -> RemovalResult {
    guard var space = spaces[name] else { return RemovalResult() }
    let removal = RemovalResult(entries: space.entries.count, bytes: space.bytes)
    space.removals[.cleared, default: 0] += UInt64(space.entries.count)
    space.entries = [:]
    space.asked = []
    spaces[name] = space
    return removal
  }
}
