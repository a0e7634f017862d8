import LMDB
import TestSupport
import Testing

@testable import Larder

/// Random changes of a small and full store in which most entries have owners. After each change, the store must be sound, no
/// write may have evicted its own entry or an owner of this entry, and other namespaces may not have taken guaranteed bytes.
@Suite struct OwnerModelTests {
  @Test func `owners, guarantees, pins and limits hold together`() throws {
    let (seed, steps) = (Int(TestSettings.seed), 1_500 * TestSettings.trials)
    try withStore { store, clock in
      var run = OwnerRun(store: store, clock: clock, seed: seed, ranges: .small)
      run.run(steps)
      #expect(run.written > steps / 8 && run.refused > steps / 50)
    }
  }
}

private struct Place: Hashable {
  var name: String
  var key: Key
}

struct OwnerRun {
  struct Broken: Error, CustomStringConvertible { var description: String }
  let store: Store
  /// The clock of the store. Nil in a run beside another process, because both processes use the clock of the system.
  let clock: ManualClock?
  private var isAlone: Bool { clock != nil }
  private let ranges: Ranges
  private var random: SeededRNG
  private var steps = 0
  private(set) var written = 0
  private(set) var refused = 0
  private let names = ["a", "b", "c"]

  init(store: Store, clock: ManualClock?, seed: Int, ranges: Ranges) {
    (self.store, self.clock, self.ranges) = (store, clock, ranges)
    random = SeededRNG(seed: seed)
  }

  private struct Before {
    var entries: [Place: Store.Entry] = [:]
    var bytes: [String: Int] = [:]
    var guaranteed: [String: Int] = [:]
    /// Whether no entry waits for a removal, because no entry is expired, cleared, invalidated or without its owners.
    var isSettled = true
  }

  mutating func run(_ count: Int) {
    do {
      for _ in 0..<count { try step() }
    } catch { Issue.record("LARDER_SEED=\(random.seed), step \(steps): \(error)") }
  }

  private mutating func step() throws {
    steps += 1
    let before = try entries()
    var what = ""
    do { try change(before, &what) } catch let error as LarderError
      where [.full, .overLimit, .noSuchOwner, .noSuchNamespace, .invalidArgument].contains(
        error.code)
    {
      refused += 1
      what += ": \(error.code)"
    }
    let faults = try steps % ranges.stepsPerVerification == 0 ? store.verify().faults : []
    if !faults.isEmpty { throw Broken(description: "\(what): \(faults)") }
    if isAlone { try checkOwners(what) } else { try checkLimits(what) }
  }

  private func entries() throws -> Before {
    var before = Before()
    let state = try store.state
    before.isSettled = isAlone && state.garbage == 0 && state.orphans == 0 && state.tombstones == 0
    for info in try store.namespaces() {
      before.bytes[info.name] = info.bytes
      before.guaranteed[info.name] = info.rules.limits.guaranteed ?? 0
      let entries = try store.namespace(info.name).page(limit: 1000).items
      // A listing omits expired entries, so if the count of the namespace differs, some entries have expired.
      if entries.count != info.entries { before.isSettled = false }
      for entry in entries { before.entries[Place(name: info.name, key: entry.key)] = entry }
    }
    return before
  }

  /// Expects that every owner of a stored entry is stored. Checks nothing while owned entries wait for their removal.
  private func checkOwners(_ what: String) throws {
    let now = try entries()
    guard try store.state.orphans == 0 else { return }
    for (place, entry) in now.entries {
      let slot = try store.namespace(place.name).slot(place.key)
      let transaction = try store.engine.beginRead()
      guard let region = try transaction.find(slot, in: .entries),
        let stored = StoredEntry(entryKey: slot, record: transaction.bytes(of: region))
      else { throw Broken(description: "\(what): \(place) cannot be read") }
      for owner in stored.owners where try transaction.find(owner.entryKey, in: .entries) == nil {
        throw Broken(
          description:
            "\(what): \(entry.key) in \(place.name) belongs to \(Key(owner.key)), which is gone")
      }
    }
  }

  private mutating func change(_ before: Before, _ what: inout String) throws {
    let name = names[random.next(in: 0..<3)]
    let notes = store.namespace(name)
    let key = "\(random.next(in: ranges.keys))"
    switch random.next(in: 0..<100) {
    case 0..<56: try set(key, in: notes, before, &what)
    case 56..<60:
      what = "batch"
      try batch(before)
    case 60..<66:
      what = "remove \(name) \(key)"
      try notes.remove(key)
    case 66..<69:
      what = "touch"
      try notes.touch(key, expires: life())
    case 69..<72:
      what = "pin"
      try notes.pin(key)
    case 72..<78:
      what = "unpin"
      for key in ranges.keys { try notes.unpin("\(key)") }
    case 78..<81:
      what = "set owners"
      let owners = owners(of: Place(name: name, key: Key(key)), before)
      try store.write { _ = try $0.setOwners(owners, of: key, in: notes) }
    case 81..<86:
      what = "advance"
      clock?.advance(by: .seconds(random.next(in: 1..<8)))
    case 86..<88:
      what = "purge"
      try store.purge()
    case 88..<89:
      what = "clear"
      try notes.clear()
    case 89..<90:
      what = "invalidate"
      try store.invalidate(tag: "t\(random.next(in: 0..<3))")
    case 90..<92 where !isAlone:
      what = "override of \(name)"
      let entries = random.chance(percent: 50) ? nil : random.next(in: 0..<40)
      let limits =
        random.chance(percent: 30) ? nil : Limits(entries: entries, bytes: Limits.unlimited)
      try store.override(Rules.Overrides(limits: limits), for: name)
    case 90..<96:
      let rules = rules()
      what = "rules of \(name): \(rules.limits) \(rules.eviction)"
      try store.declare(rules, for: name)
      try checkGuarantees(before, by: name, what)
    case 96..<98:
      let limits = StoreLimits(
        entries: random.chance(percent: 50) ? nil : random.next(in: ranges.storeEntries),
        bytes: random.chance(percent: 30) ? nil : random.next(in: ranges.storeBytes))
      what = "limits: \(limits)"
      try store.declare(limits)
      try checkGuarantees(before, by: nil, what)
    default:
      what = "read"
      let _: [UInt8]? = try notes.value(for: key)
    }
  }

  private mutating func set(
    _ key: String, in notes: Store.Namespace, _ before: Before, _ what: inout String
  ) throws {
    let place = Place(name: notes.name, key: Key(key))
    let attributes = attributes(of: place, before)
    let value = value()
    what = "set \(notes.name) \(key), \(value.count) bytes, owners \(attributes.owners)"
    try notes.set(value, for: key, attributes)
    written += 1
    guard before.isSettled else { return }
    guard try notes.entry(for: key)?.size == value.count else {
      throw Broken(description: "\(what): the entry is not there")
    }
    let former = before.entries[place]?.owners ?? []
    for owner in chain(of: attributes.owners + former, before)
    where try store.namespace(owner.name).entry(for: owner.key) == nil {
      throw Broken(description: "\(what): its owner \(owner) has left")
    }
    try checkGuarantees(before, by: notes.name, what)
  }

  private func checkGuarantees(_ before: Before, by name: String?, _ what: String) throws {
    guard before.isSettled else { return }
    for (place, entry) in before.entries where entry.isPinned {
      if try store.namespace(place.name).entry(for: place.key) == nil {
        throw Broken(description: "\(what): the pinned entry \(place) has left")
      }
    }
    for info in try store.namespaces() where info.name != name {
      let least = min(before.bytes[info.name] ?? 0, before.guaranteed[info.name] ?? 0)
      if info.bytes < least {
        throw Broken(
          description:
            "\(what): \(info.name) has lost guaranteed bytes, \(info.bytes) of \(least) are left")
      }
    }
  }

  private mutating func batch(_ before: Before) throws {
    let changes = (0..<random.next(in: ranges.batch)).map { _ in
      Place(name: names[random.next(in: 0..<3)], key: Key("\(random.next(in: ranges.keys))"))
    }
    let all = changes.map { ($0, value(), attributes(of: $0, before)) }
    try store.write { batch in
      for (place, value, attributes) in all {
        do {
          try batch.set(value, for: place.key, in: store.namespace(place.name), attributes)
        } catch let error as LarderError
          where [.full, .overLimit, .noSuchOwner].contains(error.code)
        {}
      }
    }
  }

  private mutating func value() -> [UInt8] {
    let isLarge = random.chance(percent: ranges.largeValues)
    return [UInt8](repeating: 7, count: random.next(in: isLarge ? ranges.largeSize : ranges.size))
  }

  private mutating func attributes(of place: Place, _ before: Before) -> EntryAttributes {
    var attributes = EntryAttributes(expires: life())
    if random.chance(percent: 5) { attributes.isPinned = true }
    if random.chance(percent: 20) { attributes.tags = ["t\(random.next(in: 0..<3))"] }
    attributes.owners = owners(of: place, before)
    return attributes
  }

  /// Up to two random owners that keep the chains of owners short. In half of the cases an existing entry keeps its owners.
  private mutating func owners(of place: Place, _ before: Before) -> [Owner] {
    if let entry = before.entries[place], random.chance(percent: 50) { return entry.owners }
    let candidates = before.entries.keys.filter { $0 != place }
      .sorted { ($0.name, $0.key) < ($1.name, $1.key) }
      .filter { depth(of: $0, before) < 4 }
    var owners: [Owner] = []
    while let owner = candidates.randomElement(using: &random), owners.count < 2,
      random.chance(percent: 60)
    { owners.append(Owner(owner.key, in: owner.name)) }
    return owners
  }

  private func depth(of place: Place, _ before: Before) -> Int {
    guard let entry = before.entries[place] else { return 0 }
    return chain(of: entry.owners, before).count
  }

  /// The owners, the owners of these owners, and so on.
  private func chain(of owners: [Owner], _ before: Before) -> Set<Place> {
    var found: Set<Place> = []
    var waiting = owners
    while let owner = waiting.popLast() {
      let place = Place(name: owner.namespace, key: owner.key)
      guard let entry = before.entries[place], found.insert(place).inserted else { continue }
      waiting += entry.owners
    }
    return found
  }

  private mutating func life() -> Expiration {
    if random.chance(percent: 85) { return .never }
    let time = random.next(in: 1..<20)
    return .after(isAlone ? .seconds(time) : .milliseconds(time))
  }

  private mutating func rules() -> Rules {
    let bytes = random.chance(percent: 40) ? nil : random.next(in: ranges.bytes)
    return Rules(
      limits: Limits(
        entries: random.chance(percent: 40) ? nil : random.next(in: ranges.entries), bytes: bytes,
        guaranteed: !isAlone || random.chance(percent: 50)
          ? nil : random.next(in: 1..<min(bytes ?? 100, 100))),
      eviction: [.adaptive, .adaptive, .fifo, .fifo, .refuse][random.next(in: 0..<5)],
      priority: Priority.allCases[random.next(in: 0..<3)])
  }
}
