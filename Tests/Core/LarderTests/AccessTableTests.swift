import LarderSystem
import TestSupport
import Testing

@testable import Larder

/// Hashes with different buckets and tags: the upper bits select the bucket of the access table, the lower bits are the tag.
private func hash(_ number: Int) -> UInt64 { UInt64(number) << 56 | UInt64(number % 1000 + 1) }

@Suite struct AccessSlotTests {
  @Test func `the parts of a word do not touch each other`() {
    // Each of the four lower bits selects the smallest or the largest value of a part.
    for choice in 0..<16 {
      func pick<Part>(_ bit: Int, _ least: Part, _ most: Part) -> Part {
        choice >> bit & 1 == 0 ? least : most
      }
      let stats = AccessStats(frequency: pick(0, 0, 15), clock: pick(1, 0, 3))
      let (tag, minute) = (pick(2, 1, 0x3FF) as UInt32, pick(3, 0, 0xFFFF) as UInt32)
      let slot = AccessSlot(tag: tag, stats: stats, minute: minute)
      #expect(slot.tag == tag && slot.stats == stats && slot.minute == minute)
      let (fingerprint, stamp) = (pick(1, 1, 0xFFFF) as UInt32, pick(2, 0, 2047) as UInt64)
      let part = pick(3, QueuePart.window, .main)
      let ghost = GhostSlot(
        fingerprint: fingerprint, stamp: stamp, part: part, frequency: stats.frequency)
      #expect(ghost.fingerprint == fingerprint && ghost.stamp == stamp)
      #expect(ghost.part == part && ghost.frequency == stats.frequency)
    }
  }

  @Test func `no hash has the tag or the fingerprint of an empty word`() {
    for low in 0...0xFFFF as ClosedRange<UInt64> {
      #expect(AccessSlot.tag(of: low) > 0 && AccessSlot.tag(of: low) <= 0x3FF)
      #expect(GhostSlot.fingerprint(of: low) > 0 && GhostSlot.fingerprint(of: low) <= 0xFFFF)
    }
  }

  @Test(arguments: [1, 10, 50, 1000, 100_000, 50_000_000])
  func `ghosts live four times as many evictions as there are entries`(_ entries: UInt64) throws {
    var state = with(QueueState()) { $0.policy.evictions = 3_000_000_017 }
    // These calls simulate the growth of a namespace to `entries` entries.
    for size in sequence(first: 1 as UInt64, next: { $0 < entries ? min($0 * 2, entries) : nil }) {
      _ = state.policy.ghostStamp(entries: size)
    }
    let ghost = GhostSlot(
      fingerprint: 1, stamp: state.policy.ghostStamp(entries: entries), part: .main, frequency: 0)
    func age(after evictions: UInt64) -> UInt64? {
      var later = state
      later.policy.evictions += evictions
      return later.policy.ghost(ghost, entries: entries)?.age
    }
    let step = 1 << state.policy.ageShift as UInt64
    #expect(step <= max(1, entries / 16))
    #expect(age(after: 0) == 0)
    // An age counts in steps of `step` evictions. A step may have begun just before the stamp, so ages may be wrong by a step.
    for evictions in [entries / 2, entries, 3 * entries] {
      let age = try #require(age(after: evictions))
      #expect(age >= evictions - evictions % step && age < evictions + step)
    }
    #expect(age(after: 4 * entries - step) != nil)
    #expect(age(after: 4 * entries + 2 * step) == nil)
    // Stamps repeat after some time. The table forgets a ghost (an evicted key) long before another ghost gets an equal stamp.
    #expect(age(after: 16 * entries) == nil)
  }
}

extension AccessTable {
  fileprivate func lowerClock(of hash: UInt64) {
    changeStats(with(stats(of: hash)) { $0.clock -= 1 }, of: hash)
  }
}

@Suite struct AccessTableTests: StoreSuite {
  let fixture = StoreFixture()
  private var table: AccessTable { store.engine.access }
  private var now: Int64 { clock.now.milliseconds / 60_000 }

  @Test func `a mark rises with each use up to a bound, and is lowered and forgotten`() throws {
    #expect(table.stats(of: hash(1)) == AccessStats() && table.lastUse(of: hash(1)) == nil)
    for use in 1...5 as ClosedRange<UInt32> {
      table.touch(hash(1), in: now)
      #expect(table.stats(of: hash(1)) == AccessStats(frequency: min(use, 3), clock: min(use, 3)))
    }
    table.lowerClock(of: hash(1))
    #expect(table.stats(of: hash(1)) == AccessStats(frequency: 3, clock: 2))
    table.touch(hash(1), in: now)
    #expect(table.stats(of: hash(1)) == AccessStats(frequency: 4, clock: 3))
    table.forget(hash(1))
    #expect(table.stats(of: hash(1)) == AccessStats() && table.lastUse(of: hash(1)) == nil)
  }

  @Test func `uses of the newest of the window change their time alone`() throws {
    let id = NamespaceID(rawValue: 5)
    func use(_ number: Int, _ sequence: UInt64, _ id: NamespaceID) -> AccessStats {
      table.forget(hash(number))
      table.setStats(AccessStats(frequency: 1), of: hash(number), in: now)
      table.touch(hash(number), sequence: sequence, of: id, in: now + 3)
      #expect(table.lastUse(of: hash(number))?.milliseconds == (now + 3) * 60_000)
      return table.stats(of: hash(number))
    }
    let (used, unused) = (AccessStats(frequency: 2, clock: 1), AccessStats(frequency: 1))
    #expect(use(1, 100, id) == used)
    // Includes sequence numbers that do not fit in 32 bits.
    for base in [90, 0xFFFF_FFFC, 0x5_0000_0000] as [UInt64] {
      table.setRecent(from: base, through: base + 10, of: id)
      #expect(use(1, base, id) == unused && use(2, base + 10, id) == unused)
      #expect(use(3, base - 1, id) == used && use(4, base + 11, id) == used)
      // Entry 5 is in no queue. Entry 6 is in another namespace, whose id has the same place in the table, so its use counts.
      #expect(use(5, 0, id) == used)
      #expect(use(6, base, NamespaceID(rawValue: 5 + 256)) == used)
    }
    table.setRecent(from: 101, through: 100, of: id)
    #expect(use(1, 100, id) == used && use(2, 101, id) == used)
    // Entry 7 is recent, but the table has forgotten the entry. So a use makes a new slot, as for an entry without a use.
    table.setRecent(from: 90, through: 100, of: id)
    table.forget(hash(7))
    table.touch(hash(7), sequence: 95, of: id, in: now)
    #expect(table.stats(of: hash(7)) == unused)
  }

  @Test func `the last use is known to the minute, and a lowered clock is no use`() throws {
    table.touch(hash(1), in: now + 90)
    table.lowerClock(of: hash(1))
    #expect(table.lastUse(of: hash(1))?.milliseconds == (now + 90) * 60_000)
    for _ in 0..<4 { table.touch(hash(1), in: now + 100) }
    #expect(table.lastUse(of: hash(1))?.milliseconds == (now + 100) * 60_000)
    table.touch(hash(1), in: now + 101)
    #expect(table.lastUse(of: hash(1))?.milliseconds == (now + 101) * 60_000)
  }

  @Test func `a full bucket forgets who has no clock, then who was used least lately`() throws {
    // Ten hashes with different tags in one bucket. The bucket has eight slots, so each of the last two replaces another hash.
    let hashes = (1...10).map { UInt64($0) }
    for (index, hash) in hashes[..<8].enumerated() {
      table.touch(hash, in: now + Int64(10 + index))
    }
    table.lowerClock(of: hashes[5])
    table.touch(hashes[8], in: now + 30)
    #expect(table.lastUse(of: hashes[5]) == nil)
    #expect(hashes[..<9].filter { table.lastUse(of: $0) != nil }.count == 8)
    table.touch(hashes[9], in: now + 31)
    #expect(table.lastUse(of: hashes[0]) == nil && table.lastUse(of: hashes[8]) != nil)
    #expect(hashes.filter { table.lastUse(of: $0) != nil }.count == 8)
  }

  @Test func `a ghost is taken once, and the oldest of a full bucket gives way`() throws {
    let hashes = (1...5).map { UInt64($0) }
    #expect(table.takeGhost(of: hashes[0]) == nil)
    for (index, hash) in hashes.enumerated() {
      table.putGhost(of: hash, stamp: UInt64(2040 + 3 * index), part: .main, frequency: 7)
    }
    #expect(table.takeGhost(of: hashes[0]) == nil)
    for (index, hash) in hashes.enumerated().dropFirst() {
      let ghost = table.takeGhost(of: hash)
      #expect(ghost?.stamp == UInt64(2040 + 3 * index) % 2048)
      #expect(ghost?.part == .main && ghost?.frequency == 7)
      #expect(table.takeGhost(of: hash) == nil)
    }
  }

  @Test func `frequencies are halved a few words at a time, each once in a round`() throws {
    for number in 0..<200 {
      table.setStats(AccessStats(frequency: 12, clock: 2), of: hash(number), in: now)
    }
    #expect(table.fits(entries: 1000, in: now))
    func halved() -> Int { (0..<200).filter { table.stats(of: hash($0)).frequency == 6 }.count }
    for _ in 0..<4000 { table.sweep() }
    #expect((60..<140).contains(halved()))
    for _ in 4000..<8200 { table.sweep() }
    #expect((0..<200).allSatisfy { table.stats(of: hash($0)).frequency <= 6 })
    #expect(halved() > 180)
    #expect((0..<200).allSatisfy { table.stats(of: hash($0)).clock == 2 })
    // In an empty store, each call of `sweep` passes only a few words of the table, so the position moves only a little.
    #expect(table.fits(entries: 0, in: now))
    let before = table.words.view.note(AccessTable.Note.sweep)
    table.sweep()
    let after = table.words.view.note(AccessTable.Note.sweep)
    #expect(after &- before <= 16 * 32)
  }

  @Test func `a table whose clock ends goes on with a new one, and all it knows`() throws {
    let start = now
    table.touch(hash(1), in: start + 100)
    table.touch(hash(2), in: start + 50_000)
    table.putGhost(of: hash(3), stamp: 9, part: .window, frequency: 3)
    clock.advance(by: .seconds(61_000 * 60))
    try store.namespace("notes").set("v", for: "k")
    #expect(table.lastUse(of: hash(2))?.milliseconds == (start + 50_000) * 60_000)
    #expect(table.stats(of: hash(1)) == AccessStats(frequency: 1, clock: 1))
    let long = try #require(table.lastUse(of: hash(1)))
    #expect(long.milliseconds > (start + 100) * 60_000)
    #expect(long.milliseconds < (start + 31_000) * 60_000)
    #expect(table.takeGhost(of: hash(3))?.stamp == 9)
    table.touch(hash(4), in: now)
    #expect(table.lastUse(of: hash(4))?.milliseconds == now * 60_000)
  }

  @Test func `a table that grows goes on with all it knows`() throws {
    for number in 0..<200 {
      table.setStats(AccessStats(frequency: 5, clock: 2), of: hash(number), in: now + 7)
      table.putGhost(of: hash(1000 + number), stamp: 9, part: .main, frequency: 3)
    }
    table.setRecent(from: 5, through: 9, of: NamespaceID(rawValue: 3))
    table.refit(entries: 4 * AccessTable.fewestEntries - 1, in: now + 20)
    let isRecent = table.words.view.isRecent(7, of: NamespaceID(rawValue: 3))
    #expect(isRecent)
    #expect(table.words.view.entries == 4 * AccessTable.fewestEntries)
    for number in 0..<200 {
      #expect(table.stats(of: hash(number)) == AccessStats(frequency: 5, clock: 2))
      #expect(table.lastUse(of: hash(number))?.milliseconds == (now + 7) * 60_000)
      let ghost = table.takeGhost(of: hash(1000 + number))
      #expect(ghost?.stamp == 9 && ghost?.part == .main && ghost?.frequency == 3)
    }
    // After this gap the minutes are unknown, and the next growth does not make them known.
    for (factor, gap) in [(4, 70_000), (8, 70_001)] as [(Int, Int64)] {
      table.refit(entries: factor * AccessTable.fewestEntries, in: now + gap)
    }
    #expect(table.words.view.entries == 8 * AccessTable.fewestEntries)
    #expect(table.lastUse(of: hash(1)) == nil && table.stats(of: hash(1)).frequency == 5)
  }
}
