/// The part of a queue that an entry is in.
enum QueuePart: UInt8 {
  case window, main
}

/// The record of an evicted entry that the policy keeps for a while.
struct Ghost: Equatable {
  /// Evictions since then.
  var age: UInt64
  var part: QueuePart
  var frequency: UInt32
}

/// One cache as the eviction policy sees it: the order of its entries, and their access statistics.
///
/// A namespace is one, with its order in the store and its statistics in the shared ``AccessTable``; the decoded values of
/// a cache are another, with both in memory. The policy itself is an extension of this protocol, so that the compiler
/// specialises it for each.
protocol EvictionQueue: ~Copyable {
  associatedtype Entry: Equatable
  /// A place in the order that outlives the entry that had it.
  associatedtype Position
  associatedtype Failure: Error

  var policy: PolicyState { get set }
  var clockHand: Position { get set }
  /// Entries of the cache.
  var entries: UInt64 { get }
  /// Whether a limit that this cache must evict for is still exceeded.
  var isOver: Bool { get }
  /// The share of the capacity that the window takes, in the measure of the limit that binds most.
  var windowShare: Double { get }

  /// Moves the window boundary behind the oldest entry of the window, which becomes main's newest; nil if none may move.
  mutating func promote() throws(Failure) -> Entry?
  mutating func oldestInWindow(sparing spared: Entry?) throws(Failure) -> Entry?
  /// The first entry of main at a position or after it, and after the newest the oldest again; never `spared`.
  mutating func main(from position: Position, sparing spared: Entry?) throws(Failure) -> Entry?
  func position(of entry: Entry) -> Position
  func position(after entry: Entry) -> Position
  /// Removes an entry and its statistics; false if it must stay.
  mutating func remove(_ entry: Entry) throws(Failure) -> Bool

  func stats(of entry: Entry) -> AccessStats
  /// Changes the statistics; this is no use of the entry.
  func setStats(_ stats: AccessStats, of entry: Entry)
  func hash(of entry: Entry) -> UInt64
  /// Takes out the ghost of a key that was evicted at most four times as many evictions ago as there are entries.
  mutating func takeGhost(of hash: UInt64) -> Ghost?
  /// Keeps a ghost of an entry that was just removed from a cache of `entries`.
  mutating func putGhost(
    of hash: UInt64, from part: QueuePart, frequency: UInt32, entries: UInt64)

  /// Whether the entry can no longer be read, so that it leaves before all others.
  func isExpired(_ entry: Entry) -> Bool
  /// Whether an entry of main loses to any newer one.
  func yieldsToNewer(_ entry: Entry) -> Bool
}

extension EvictionQueue where Self: ~Copyable {
  func isExpired(_ entry: Entry) -> Bool { false }
  func yieldsToNewer(_ entry: Entry) -> Bool { false }
}
