import LMDB
import LarderSystem

/// What was used and what left, shared by all processes of a store through memory: the file `access`.
///
/// It holds no keys: an entry is named by a hash of its key and its namespace's id, and two that share a bucket and a tag
/// share a word. A full bucket forgets. Nothing is ever locked, and of two changes of a word at the same time one is lost.
/// A table that is lost, old or full of nonsense costs hits and nothing else: what is not found counts as never used.
///
/// For `entries` entries there are `2 * entries` words of marks in buckets of 8, then `4 * entries` words of ghosts in
/// buckets of 4.
struct AccessTable: Sendable {
  let words: SharedTable

  static let wordsPerEntry = 6
  static let markWays = 8
  static let ghostWays = 4

  /// What the notes of the file are.
  enum Note {
    /// The minute since 1970 from which on last uses count.
    static let epoch = 0
    /// How far the halving of frequencies has come, in sixteenths of a word.
    static let sweep = 1
    /// Entries of the store, as of the last write.
    static let entries = 2
  }

  /// Notes a use of the entry, in a minute since 1970.
  func touch(_ hash: UInt64, in minute: Int64) {
    let view = words.view
    guard view.isWritable else { return }
    view.touch(hash, bucket: view.markBucket(of: hash), in: minute)
  }

  /// When the entry was last used or written, to the minute; nil if that is not known any more, or too long ago.
  func lastUse(of hash: UInt64) -> Timestamp? {
    let view = words.view
    guard view.count > 0, let (_, word) = view.findMark(of: hash), word.minute > 0 else {
      return nil
    }
    return Timestamp(milliseconds: (view.epoch &+ Int64(word.minute)) &* 60_000)
  }
}

extension SharedTable.View {
  /// The bucket of an entry that is about to be looked up, which memory fetches meanwhile; nil if no use can be noted.
  @inline(__always)
  func fetchedBucket(of hash: UInt64) -> Int? {
    guard isWritable, count > 0 else { return nil }
    let bucket = markBucket(of: hash)
    prefetch(bucket)
    return bucket
  }

  /// Notes a use of the entry, in a minute since 1970. One store at most; none if all is known already.
  @inline(__always)
  func touch(_ hash: UInt64, bucket: Int, in minute: Int64) {
    let minute = self.minute(minute)
    guard let (place, word) = findMark(of: hash, in: bucket) else {
      var mark = AccessStats()
      mark.use()
      let tag = AccessSlot.tag(of: hash)
      claimMark(of: hash, AccessSlot(tag: tag, mark: mark, minute: minute))
      return
    }
    let used = word.used(in: minute)
    if used != word { store(used.bits, at: place) }
  }

  /// How many entries the table is made for.
  @inline(__always)
  var entries: Int { count / AccessTable.wordsPerEntry }

  @inline(__always)
  var epoch: Int64 { Int64(bitPattern: note(AccessTable.Note.epoch)) }

  /// Minutes since the table's epoch, 1 to 65,535; 0 stands for unknown.
  @inline(__always)
  func minute(_ now: Int64) -> UInt32 {
    UInt32(truncatingIfNeeded: min(max(now &- epoch, 1), 0xFFFF))
  }

  /// Where the bucket begins that a mark would be in.
  @inline(__always)
  func markBucket(of hash: UInt64) -> Int {
    let buckets = UInt64(truncatingIfNeeded: count / (3 * AccessTable.markWays))
    return Int(truncatingIfNeeded: hash.multipliedFullWidth(by: buckets).high)
      &* AccessTable.markWays
  }

  /// The word that holds the mark, and where it is; nil if none does.
  ///
  /// The search begins at a place of the tag's own, where most marks are: then it ends at once.
  @inline(__always)
  func findMark(of hash: UInt64, in bucket: Int) -> (place: Int, word: AccessSlot)? {
    let tag = AccessSlot.tag(of: hash)
    var step = Int(truncatingIfNeeded: tag)
    for _ in 0..<AccessTable.markWays {
      let place = bucket &+ step & (AccessTable.markWays &- 1)
      let word = AccessSlot(bits: load(place))
      if word.tag == tag { return (place, word) }
      step &+= 1
    }
    return nil
  }

  func findMark(of hash: UInt64) -> (place: Int, word: AccessSlot)? {
    findMark(of: hash, in: markBucket(of: hash))
  }

  /// Puts a mark where there is none: into an empty word of the bucket, else one whose clock is 0, else the one that was
  /// used least lately.
  @inline(never)
  func claimMark(of hash: UInt64, _ word: AccessSlot) {
    let bucket = markBucket(of: hash)
    var chosen = bucket
    var leastWorth = UInt32.max
    for step in 0..<AccessTable.markWays {
      let place = bucket + (Int(word.tag) + step) % AccessTable.markWays
      let found = AccessSlot(bits: self[place])
      let worth = found == .empty ? 0 : 1 + (min(found.mark.clock, 1) << 16 | found.minute)
      if worth < leastWorth {
        chosen = place
        leastWorth = worth
      }
    }
    self[chosen] = word.bits
  }
}
