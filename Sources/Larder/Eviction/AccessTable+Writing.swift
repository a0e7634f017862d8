import LMDB
import LarderSystem

/// What only writers do, one at a time, inside their transaction.
extension AccessTable {
  func mark(of hash: UInt64) -> AccessStats {
    let view = words.view
    guard view.count > 0, let (_, word) = view.findMark(of: hash) else { return AccessStats() }
    return word.mark
  }

  /// Puts a mark, as of a use in that minute since 1970.
  func setMark(_ mark: AccessStats, of hash: UInt64, in minute: Int64) {
    let view = words.view
    guard view.isWritable else { return }
    let word = AccessSlot(tag: AccessSlot.tag(of: hash), mark: mark, minute: view.minute(minute))
    if let (place, _) = view.findMark(of: hash) {
      view[place] = word.bits
    } else {
      view.claimMark(of: hash, word)
    }
  }

  /// The entry was written: a use if it was there before. What is new begins without a clock, and has a mark already if its
  /// policy gave it one.
  func written(_ hash: UInt64, isNew: Bool, in minute: Int64) {
    if !isNew { return touch(hash, in: minute) }
    let view = words.view
    guard view.isWritable, view.findMark(of: hash) == nil else { return }
    setMark(AccessStats(frequency: 1), of: hash, in: minute)
  }

  /// The hand passes a used entry. No use.
  func lowerClock(of hash: UInt64) {
    let view = words.view
    guard view.isWritable, let (place, word) = view.findMark(of: hash) else { return }
    var mark = word.mark
    if mark.clock == 0 { return }
    mark.clock -= 1
    view[place] = AccessSlot(tag: word.tag, mark: mark, minute: word.minute).bits
  }

  /// The entry is gone.
  func forget(_ hash: UInt64) {
    let view = words.view
    guard view.isWritable, let (place, _) = view.findMark(of: hash) else { return }
    view[place] = AccessSlot.empty.bits
  }

  /// Takes what is remembered of an evicted entry.
  func takeGhost(of hash: UInt64) -> GhostWord? {
    let view = words.view
    guard view.isWritable else { return nil }
    let fingerprint = GhostWord.fingerprint(of: hash)
    for place in view.ghostBucket(of: hash) {
      let ghost = GhostWord(bits: view[place])
      if ghost.fingerprint == fingerprint {
        view[place] = GhostWord.empty.bits
        return ghost
      }
    }
    return nil
  }

  /// Remembers an evicted entry, in the place of the oldest ghost of the bucket if it is full.
  func putGhost(of hash: UInt64, stamp: UInt64, part: QueuePart, frequency: UInt32) {
    let view = words.view
    guard view.isWritable else { return }
    let word = GhostWord(
      fingerprint: GhostWord.fingerprint(of: hash), stamp: stamp, part: part, frequency: frequency)
    let bucket = view.ghostBucket(of: hash)
    var chosen = bucket.lowerBound
    var mostAge: UInt64 = 0
    for place in bucket {
      let ghost = GhostWord(bits: view[place])
      if ghost.fingerprint == word.fingerprint {
        chosen = place
        break
      }
      let age = ghost == .empty ? GhostWord.stamps : ghost.age(at: stamp)
      if age > mostAge {
        chosen = place
        mostAge = age
      }
    }
    view[chosen] = word.bits
  }

  /// An entry was inserted: halves the frequencies of a few words, so that each is halved about once in as many inserts as
  /// eight times the store has entries.
  func sweep() {
    let view = words.view
    guard view.isWritable else { return }
    let entries = max(1, Int(clamping: view.note(Note.entries)))
    let step = min(max(4 * view.entries / entries, 1), 512)
    let end = 16 * 2 * view.entries
    let from = Int(clamping: view.note(Note.sweep)) % end
    let to = min(from + step, end)
    for place in from / 16..<to / 16 {
      let word = AccessSlot(bits: view[place])
      if word.mark.frequency == 0 { continue }
      let mark = AccessStats(frequency: word.mark.frequency / 2, clock: word.mark.clock)
      view[place] = AccessSlot(tag: word.tag, mark: mark, minute: word.minute).bits
    }
    view.setNote(Note.sweep, UInt64(to))
  }
}

extension SharedTable.View {
  /// The words that a ghost would be in.
  func ghostBucket(of hash: UInt64) -> Range<Int> {
    let buckets = UInt64(4 * entries / AccessTable.ghostWays)
    let first =
      2 * entries + Int(hash.multipliedFullWidth(by: buckets).high) * AccessTable.ghostWays
    return first..<first + AccessTable.ghostWays
  }
}
