import LMDB
import LarderSystem

/// The file `leases`: the keys that processes of this machine are loading. The hash of a key chooses a word, which holds
/// another part of the hash and the end of the lease, by the machine's monotonic clock; 0 means no lease. Every change is one
/// compare-and-exchange, so a killed process leaves only a lease that ends by time. The words are hints: without the file, or
/// if another key uses the word of a key, each process loads for itself.
struct LeaseTable {
  private static let count = 8192
  /// How long a lease lasts without a renewal, in milliseconds.
  static let length: Int64 = 3_000
  private static let endMask: UInt64 = (1 << 40) - 1

  enum Standing: Equatable {
    case free
    /// The lease expired before its holder ended it.
    case lapsed
    case held
    /// Another key has a lease in this word.
    case occupied
    case unavailable
  }

  private let words: SharedTable

  init(of environment: Environment, store: [UInt8]) {
    words = SharedTable(
      SharedTable.Format(file: .leases, layout: 1, store: store) { $0 == 2 * Self.count },
      of: environment)
  }

  /// Maps the file, and makes a missing file; false if that fails.
  func open() -> Bool { words.view.isWritable || words.open(making: 2 * Self.count) }

  static func place(of hash: UInt64) -> Int { Int(hash % UInt64(count)) }

  static func word(_ hash: UInt64, until end: Int64) -> UInt64 {
    (hash & ~endMask) | (UInt64(bitPattern: end) & endMask)
  }

  private static func isLive(_ word: UInt64, at now: Int64) -> Bool {
    let end = Int64(word & endMask)
    // An end that is more than `length` ahead belongs to an earlier boot of the machine.
    return now < end && end - now <= length
  }

  func standing(_ hash: UInt64, at now: Int64) -> Standing {
    let view = words.view
    guard view.isWritable else { return .unavailable }
    let word = view.acquire(Self.place(of: hash))
    if word == 0 { return .free }
    guard Self.isLive(word, at: now) else { return .lapsed }
    return word & ~Self.endMask == hash & ~Self.endMask ? .held : .occupied
  }

  /// Takes the lease unless a live lease exists; returns the word of the new lease, or nil.
  func take(_ hash: UInt64, at now: Int64) -> UInt64? {
    let view = words.view
    guard view.isWritable else { return nil }
    let place = Self.place(of: hash)
    let known = view.acquire(place)
    let word = Self.word(hash, until: now + Self.length)
    guard !Self.isLive(known, at: now) else { return nil }
    return view.exchange(known, for: word, at: place) ? word : nil
  }

  /// Replaces the word of a lease; 0 ends the lease. False if another process has changed the word, or if this process
  /// may not write the table.
  func replace(_ word: UInt64, by new: UInt64, at place: Int) -> Bool {
    let view = words.view
    return view.isWritable && view.exchange(word, for: new, at: place)
  }
}
