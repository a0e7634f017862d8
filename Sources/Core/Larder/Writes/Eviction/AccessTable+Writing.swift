import LarderSystem

extension AccessTable {
  func stats(of hash: UInt64) -> AccessStats {
    let view = words.view
    guard view.count > 0, let (_, slot) = view.find(hash) else { return AccessStats() }
    return slot.stats
  }

  func setStats(_ stats: AccessStats, of hash: UInt64, in minute: Int64) {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return }
    let minute = view.minute(minute)
    guard let (place, slot) = view.find(hash) else { return view.claim(hash, stats, in: minute) }
    view[place] = AccessSlot(tag: slot.tag, stats: stats, minute: minute).bits
  }

  /// Changes the statistics of an entry that has a slot. This change does not count as a use.
  func changeStats(_ stats: AccessStats, of hash: UInt64) {
    let view = words.view
    guard view.isWritable, view.count > 0, let (place, slot) = view.find(hash) else { return }
    view[place] = AccessSlot(tag: slot.tag, stats: stats, minute: slot.minute).bits
  }

  /// Sets which entries of a namespace are so new that their uses do not count. If `first` is after `last`, every use counts.
  func setRecent(from first: UInt64, through last: UInt64, of id: NamespaceID) {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return }
    let place = view.recentPlace(of: id)
    view[place] = first > last ? 0 : id.rawValue
    view[place + 1] = UInt32(truncatingIfNeeded: first)
    view[place + 2] = UInt32(truncatingIfNeeded: last)
  }

  /// Notes that an entry was written. For an entry that existed before, the write counts as a use. A new entry gets frequency 1
  /// and clock 0, except if the policy has already set its statistics.
  func written(
    _ hash: UInt64, isNew: Bool, sequence: UInt64, of id: NamespaceID, in minute: Int64
  ) {
    if !isNew { return touch(hash, sequence: sequence, of: id, in: minute) }
    let view = words.view
    guard view.isWritable, view.count > 0, view.find(hash) == nil else { return }
    view.claim(hash, AccessStats(frequency: 1), in: view.minute(minute))
  }

  func forget(_ hash: UInt64) {
    let view = words.view
    guard view.isWritable, view.count > 0, let (place, _) = view.find(hash) else { return }
    view[place] = AccessSlot.empty.bits
  }

  func takeGhost(of hash: UInt64) -> GhostSlot? {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return nil }
    let fingerprint = GhostSlot.fingerprint(of: hash)
    for place in view.ghostBucket(of: hash) {
      let ghost = GhostSlot(bits: view[place])
      if ghost.fingerprint == fingerprint {
        view[place] = GhostSlot.empty.bits
        return ghost
      }
    }
    return nil
  }

  /// In a full bucket the new ghost replaces the oldest ghost.
  func putGhost(of hash: UInt64, stamp: UInt64, part: QueuePart, frequency: UInt32) {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return }
    let slot = GhostSlot(
      fingerprint: GhostSlot.fingerprint(of: hash), stamp: stamp, part: part, frequency: frequency)
    let bucket = view.ghostBucket(of: hash)
    let former = bucket.first { GhostSlot(bits: view[$0]).fingerprint == slot.fingerprint }
    let oldest = bucket.max {
      GhostSlot(bits: view[$0]).age(at: stamp) < GhostSlot(bits: view[$1]).age(at: stamp)
    }
    view[former ?? oldest!] = slot.bits
  }

  /// Called after each insertion. In a store of n entries, each frequency is halved about once in 8 n insertions.
  func sweep() {
    let view = words.view
    guard view.isWritable, view.count > 0 else { return }
    let entries = max(1, Int(clamping: view.note(Note.entries)))
    let step = min(max(4 * view.entries / entries, 1), 512)
    let end = 16 * 2 * view.entries
    let from = Int(clamping: view.note(Note.sweep)) % end
    let to = min(from + step, end)
    for place in from / 16..<to / 16 {
      let slot = AccessSlot(bits: view[place])
      var stats = slot.stats
      if stats.frequency == 0 { continue }
      stats.frequency /= 2
      view[place] = AccessSlot(tag: slot.tag, stats: stats, minute: slot.minute).bits
    }
    view.setNote(Note.sweep, UInt64(to))
  }
}
