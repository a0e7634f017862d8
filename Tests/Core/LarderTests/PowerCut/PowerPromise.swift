import Larder
import LarderPeer

/// What writers were told up to some point of a trace, and with that what a store must hold after a power cut there.
struct PowerPromise {
  private(set) var isOpen = false
  /// The last batch that a writer was told is done, and when the ones before it were.
  private(set) var acknowledged = 0
  private(set) var times: [Int: Int] = [:]
  /// The last batch that a sync or a clean close was to cover.
  private(set) var synced = 0
  /// Batches that were begun and not answered yet.
  private(set) var underWay = 0
  /// Batches that failed, which may be there all the same.
  private var unknown = 0
  /// Nothing was begun since the last sync ended, or since all have closed.
  private(set) var isSettled = false
  /// An opening found less than a sync or a clean close was to cover.
  private(set) var foundTooFew = false
  /// Who has the store open, is opening it, or has begun to close it.
  private var openers = 0
  private var closers = 0
  private let canBeEmptied: Bool
  /// A write failed after somebody opened the store, and may have begun behind a sync whose success is told only now.
  private var isDoubtful = false
  /// Before the trace began there may have been as many.
  private var former = 0

  /// - Parameter canBeEmptied: a failed sync may empty the store, and the numbers begin anew.
  init(canBeEmptied: Bool = false) { self.canBeEmptied = canBeEmptied }

  /// For what a power cut left of a store of that level, whose writers then were told this much.
  init(after other: PowerPromise, _ level: Durability) {
    synced = level == .scratch ? 0 : other.least(level)
    acknowledged = synced
    former = other.acknowledged + other.underWay
    isOpen = true
    canBeEmptied = false
  }

  mutating func hear(_ lines: [String]) {
    for line in lines {
      let words = line.split(separator: " ")
      let number = words.count > 1 ? Int(words[1]) ?? 0 : 0
      switch words[0] {
      case "opening": openers += 1
      case "open": isOpen = true
      case "begin":
        underWay += 1
        isSettled = false
      case "ack":
        underWay -= 1
        acknowledged = max(acknowledged, number)
        times[number] = Int(words[2])!
      case "found":
        foundTooFew = foundTooFew || number < synced
        if canBeEmptied {
          former = max(former, acknowledged)
          acknowledged = min(acknowledged, number)
          synced = min(synced, number)
        }
      case "dropped":
        underWay -= 1
        unknown += 1
        isDoubtful = true
      case "refused": leave()
      case "unsaved":
        leave()
        closers -= 1
      case "closing":
        closers += 1
        isSettled = false
      case "sync":
        synced = max(synced, number)
        isSettled = underWay == 0 && closers == 0 && number == acknowledged && !isDoubtful
      case "closed":
        leave()
        closers -= 1
        synced = max(synced, number)
        if underWay == 0, openers == 0 { isSettled = true }
      default: break
      }
    }
  }

  private mutating func leave() {
    openers -= 1
    if openers == 0 { isDoubtful = false }
  }

  /// The least that must be there.
  func least(_ level: Durability) -> Int {
    switch level {
    case .durable: acknowledged
    case .checkpointed: synced
    case .scratch: isSettled ? synced : 0
    }
  }

  /// Whether the store may hold the batches up to that number and no others.
  func allows(_ number: Int, _ level: Durability) -> Bool {
    if level == .scratch, number == 0 { return !isSettled || synced == 0 }
    let least = level == .scratch ? synced : self.least(level)
    return number >= least && number <= max(acknowledged, former) + underWay + unknown
  }

  /// How many milliseconds before the last acknowledgement the first one was that is lost.
  func age(ofLoss number: Int) -> Int {
    guard number < acknowledged, let first = times[number + 1], let last = times[acknowledged]
    else {
      return 0
    }
    return last - first
  }
}
