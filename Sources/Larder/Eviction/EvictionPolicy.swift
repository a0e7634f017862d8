/// An entry of the queue: what a policy decides about.
struct Candidate: Equatable {
  var sequence: UInt64
  /// Bytes of the value.
  var size: UInt64
  /// Names the entry in the access table.
  var hash: UInt64
  /// The entry's key in the main database.
  var slot: [UInt8]
}

/// The part of the queue an entry is in.
enum QueuePart: UInt8 {
  case window, main
}

/// The queue of one namespace inside the write that needs room, as a policy sees it.
///
/// Pinned entries are not in it. ``first(from:)`` leaves out what must not leave now: the entry being written, and what
/// ``evict(_:)`` could not remove.
protocol EvictionQueue: ~Copyable {
  var state: QueueState { get set }
  /// Entries of the namespace.
  var entries: UInt64 { get }
  /// Whether a limit that this namespace must give way to is exceeded still.
  var isOver: Bool { get }
  /// Whether little room is left under any limit, so that what is new must soon compete with what is there.
  var isNearlyFull: Bool { get }
  /// What the limit that binds most counts for an entry of that size: its bytes, or 1.
  func cost(ofSize size: UInt64) -> UInt64
  /// That limit, in the same measure; the namespace's present usage if it has none of its own.
  var capacity: UInt64 { get }
  /// What the window holds in the same measure.
  var windowCost: UInt64 { get }

  /// The first entry of the queue with that sequence or a later one that may leave.
  mutating func first(from sequence: UInt64) throws(LarderError) -> Candidate?
  /// Moves the edge behind the oldest entry of the window, which then is main's newest; nil if there is none that may move.
  mutating func cross() throws(LarderError) -> Candidate?
  /// Removes the entry with its mark, and what leaves with it; false if it must stay after all.
  mutating func evict(_ candidate: Candidate) throws(LarderError) -> Bool
}

/// Decides what leaves a full namespace. It has no state of its own: that is in ``QueueState`` and the access table.
protocol RoomPolicy {
  /// Evicts until the queue is no longer over its limit or nothing more can leave.
  func makeRoom(in queue: inout some EvictionQueue & ~Copyable) throws(LarderError)
}

protocol EvictionPolicy: RoomPolicy {
  /// A new entry was appended to the queue; it counts as part of the window already.
  func inserted(_ entry: Candidate, into queue: inout some EvictionQueue & ~Copyable)
    throws(LarderError)
}

/// What making room reads and changes of the access table.
protocol UseMarks {
  func mark(of hash: UInt64) -> AccessStats
  /// The hand passes a used entry.
  func lowerClock(of hash: UInt64)
  func putGhost(of hash: UInt64, stamp: UInt64, part: QueuePart, frequency: UInt32)
}

extension AccessTable: UseMarks {}
