import Larder

/// The promise of all reports to the writers before a point of a trace: the batches that survive a power cut at this point.
struct PowerPromise {
  private(set) var isOpen = false
  /// The last batch that was reported to a writer as done. `times` has the time of each such report.
  private(set) var acknowledged = 0
  private(set) var times: [Int: Int] = [:]
  /// The last batch that a reported sync or clean close covers.
  private(set) var synced = 0
  /// The number of batches that have begun and have no answer yet.
  private(set) var underWay = 0
  /// The number of batches that failed. Such a batch may still be in the store.
  private var unknown = 0
  /// Whether no batch has begun since the last sync ended, or since all processes have closed.
  private(set) var isSettled = false
  /// Whether an opening found fewer batches than a sync or a clean close covers.
  private(set) var foundTooFew = false
  /// The number of processes that open the store or have it open, and the number of processes that have begun to close it.
  private var openers = 0
  private var closers = 0
  private let canBeEmptied: Bool
  /// Whether a write has failed while a process had the store open. A later successful sync may not cover this write.
  private var isDoubtful = false
  /// The largest number of batches that the store may have had before the trace began.
  private var former = 0

  /// - Parameter canBeEmptied: whether a failed sync may empty the store. The next batch then gets the number 1 again.
  init(canBeEmptied: Bool = false) { self.canBeEmptied = canBeEmptied }

  /// The promise for a store of this level after a power cut. `other` has the reports that writers got before the power cut.
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

  func least(_ level: Durability) -> Int {
    switch level {
    case .durable: acknowledged
    case .checkpointed: synced
    case .scratch: isSettled ? synced : 0
    }
  }

  /// Whether the store may have exactly the batches up to `number`.
  func allows(_ number: Int, _ level: Durability) -> Bool {
    if level == .scratch, number == 0 { return !isSettled || synced == 0 }
    let least = level == .scratch ? synced : self.least(level)
    return number >= least && number <= max(acknowledged, former) + underWay + unknown
  }

  /// The age of the first lost batch, in milliseconds: from its acknowledgement to the last acknowledgement.
  func age(ofLoss number: Int) -> Int {
    guard number < acknowledged, let first = times[number + 1], let last = times[acknowledged]
    else { return 0 }
    return last - first
  }
}
