import LarderSystem

/// The access statistics of a store's entries, and its ghosts (records of evicted entries). Processes share the file `access`.
///
/// The table has no keys: a hash of key and namespace id identifies an entry. Two entries with the same bucket and tag share a
/// slot. In a full bucket, a new entry replaces another. The table has no locks, so one of two concurrent changes of a slot is
/// lost. A missing, outdated or damaged table only lowers the hit rate: an entry without a slot counts as never used.
///
/// A table for `entries` entries has `2 * entries` words of access slots in buckets of 8. Then come `4 * entries` words of
/// ghost slots in buckets of 4. The last ``recentWords`` words say which entries are recent.
struct AccessTable: Sendable {
  let words: SharedTable

  static let wordsPerEntry = 6
  static let slotWays = 8
  static let ghostWays = 4
  /// Four words for each of 256 namespaces: the id, the first and the last recent position (their lower 32 bits), and an unused
  /// word. If the ids of two namespaces lead to the same place, the namespace with the latest insertion has the place.
  static let recentWords = 1024
  static let recentWidth = 4

  enum Note {
    /// The epoch in minutes since 1970. The slots count the minutes of last uses from the epoch.
    static let epoch = 0
    /// The position of the sweep that halves the frequencies, in sixteenths of a word.
    static let sweep = 1
    static let entries = 2
  }

  /// Records a use in a minute since 1970. `sequence` is the entry's position in the queue, or 0 if it has no position.
  func touch(_ hash: UInt64, sequence: UInt64 = 0, of id: NamespaceID = .store, in minute: Int64) {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return }
    view.touch(
      hash, bucket: view.bucket(of: hash), in: minute, isRecent: view.isRecent(sequence, of: id))
  }

  /// The time of an entry's last use or write, rounded to a minute. Nil if the table has no slot or no minute for the entry.
  func lastUse(of hash: UInt64) -> Timestamp? {
    let view = words.view
    guard view.count > 0, let (_, slot) = view.find(hash), slot.minute > 0 else { return nil }
    return Timestamp(milliseconds: (view.epoch &+ Int64(slot.minute)) &* 60_000)
  }
}

extension SharedTable.View {
  /// The index of an entry's bucket. Lets the processor begin to load the bucket. Nil if uses cannot be recorded.
  @inline(__always)
  func fetchedBucket(of hash: UInt64) -> Int? {
    guard isWritable, count > 0 else { return nil }
    let bucket = bucket(of: hash)
    prefetch(bucket)
    return bucket
  }

  /// Records a use in a minute since 1970. If the slot does not change, writes nothing.
  @inline(__always)
  func touch(_ hash: UInt64, bucket: Int, in minute: Int64, isRecent: Bool) {
    let minute = self.minute(minute)
    guard let (place, slot) = find(hash, in: bucket) else {
      let stats = isRecent ? AccessStats(frequency: 1) : AccessStats(frequency: 1, clock: 1)
      claim(hash, stats, in: minute)
      return
    }
    let used = slot.used(in: minute, isRecent: isRecent)
    if used != slot { self[place] = used.bits }
  }

  /// Whether an entry is among the newest of its namespace's window. A use of such an entry does not raise its clock, because
  /// the use usually belongs to the request that stored the entry.
  @inline(__always)
  func isRecent(_ sequence: UInt64, of id: NamespaceID) -> Bool {
    let place = recentPlace(of: id)
    let low = UInt32(truncatingIfNeeded: sequence)
    let first = self[place &+ 1]
    return self[place] == id.rawValue && low &- first <= self[place &+ 2] &- first && sequence != 0
  }

  @inline(__always)
  func recentPlace(of id: NamespaceID) -> Int {
    let places = AccessTable.recentWords / AccessTable.recentWidth
    return count &- AccessTable.recentWords &+ Int(id.rawValue) & (places &- 1)
      &* AccessTable.recentWidth
  }

  @inline(__always)
  var entries: Int { (count &- AccessTable.recentWords) / AccessTable.wordsPerEntry }

  @inline(__always)
  var epoch: Int64 { Int64(bitPattern: note(AccessTable.Note.epoch)) }

  /// Minutes since the table's epoch, clamped to 1 to 65,535; 0 in a slot means that the minute is unknown.
  @inline(__always)
  func minute(_ now: Int64) -> UInt32 {
    UInt32(truncatingIfNeeded: min(max(now &- epoch, 1), 0xFFFF))
  }

  @inline(__always)
  func bucket(of hash: UInt64) -> Int {
    let buckets = UInt64(
      truncatingIfNeeded: (count &- AccessTable.recentWords) / (3 * AccessTable.slotWays))
    return Int(truncatingIfNeeded: hash.multipliedFullWidth(by: buckets).high)
      &* AccessTable.slotWays
  }

  func ghostBucket(of hash: UInt64) -> Range<Int> {
    let buckets = UInt64(4 * entries / AccessTable.ghostWays)
    let first =
      2 * entries + Int(hash.multipliedFullWidth(by: buckets).high) * AccessTable.ghostWays
    return first..<first + AccessTable.ghostWays
  }

  /// The search begins at a place that the tag selects. Most entries are at that place, so most searches test only one place.
  @inline(__always)
  func find(_ hash: UInt64, in bucket: Int) -> (place: Int, slot: AccessSlot)? {
    let tag = AccessSlot.tag(of: hash)
    var step = Int(truncatingIfNeeded: tag)
    for _ in 0..<AccessTable.slotWays {
      let place = bucket &+ step & (AccessTable.slotWays &- 1)
      let slot = AccessSlot(bits: self[place])
      if slot.tag == tag { return (place, slot) }
      step &+= 1
    }
    return nil
  }

  func find(_ hash: UInt64) -> (place: Int, slot: AccessSlot)? { find(hash, in: bucket(of: hash)) }

  /// Gives an entry an empty slot of its bucket, otherwise a slot with clock 0, otherwise the slot with the oldest last use.
  @inline(never)
  func claim(_ hash: UInt64, _ stats: AccessStats, in minute: UInt32) {
    let slot = AccessSlot(tag: AccessSlot.tag(of: hash), stats: stats, minute: minute)
    let bucket = bucket(of: hash)
    var chosen = bucket
    var leastWorth = UInt32.max
    for step in 0..<AccessTable.slotWays {
      let place = bucket + (Int(slot.tag) + step) % AccessTable.slotWays
      let found = AccessSlot(bits: self[place])
      let worth = found == .empty ? 0 : 1 + (min(found.stats.clock, 1) << 16 | found.minute)
      if worth < leastWorth {
        chosen = place
        leastWorth = worth
      }
    }
    self[chosen] = slot.bits
  }
}
