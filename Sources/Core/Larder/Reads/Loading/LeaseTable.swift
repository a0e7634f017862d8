import LMDB
import LarderSystem

/// The file `leases`: the keys that processes of this machine are loading. The hash of a key chooses a word of the file. The
/// word has another part of the hash, and the end of the lease by the machine's monotonic clock; a word of 0 means no lease.
/// One compare-and-exchange makes each change, so a killed process leaves only a lease, which ends by time.
struct LeaseTable {
  private static let count = 8192
  /// The time in milliseconds after which a lease ends without a renewal.
  static let length: Int64 = 3_000
  private static let endMask: UInt64 = (1 << 40) - 1

  enum Standing: Equatable {
    case free
    /// The time of the lease is over, but its holder has not ended the lease.
    case lapsed
    case held
    /// Another key has a lease in this word, or the file cannot be written.
    case unavailable
  }

  private let words: SharedTable

  init(of environment: Environment, store: [UInt8]) {
    words = SharedTable(.leases, layout: 1, store: store, of: environment) { $0 == 2 * Self.count }
  }

  /// Maps the file, which is created if it is missing. Returns false if the file cannot be created or mapped.
  func open() -> Bool { words.view.isWritable || words.open(making: 2 * Self.count) }

  static func place(of hash: UInt64) -> Int { Int(hash % UInt64(count)) }

  static func word(_ hash: UInt64, until end: Int64) -> UInt64 {
    (hash & ~endMask) | (UInt64(bitPattern: end) & endMask)
  }

  private static func isLive(_ word: UInt64, at now: Int64) -> Bool {
    let end = Int64(word & endMask)
    // If the end is more than `length` after `now`, the lease comes from an earlier boot of the machine and is not valid.
    return now < end && end - now <= length
  }

  func standing(_ hash: UInt64, at now: Int64) -> Standing {
    let view = words.view
    guard view.isWritable else { return .unavailable }
    let word = view.acquire(Self.place(of: hash))
    if word == 0 { return .free }
    guard Self.isLive(word, at: now) else { return .lapsed }
    return word & ~Self.endMask == hash & ~Self.endMask ? .held : .unavailable
  }

  /// Takes the lease and returns its word. Returns nil if a lease of this key or of another key in the word has not ended.
  func take(_ hash: UInt64, at now: Int64) -> UInt64? {
    let view = words.view
    guard view.isWritable else { return nil }
    let place = Self.place(of: hash)
    let known = view.acquire(place)
    let word = Self.word(hash, until: now + Self.length)
    guard !Self.isLive(known, at: now) else { return nil }
    return view.exchange(known, for: word, at: place) ? word : nil
  }

  /// Replaces the word of a lease; 0 ends the lease. Returns false if the word has changed, or no write is possible.
  func replace(_ word: UInt64, by new: UInt64, at place: Int) -> Bool {
    let view = words.view
    return view.isWritable && view.exchange(word, for: new, at: place)
  }
}
