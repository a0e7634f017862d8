/// Two LRU lists: keys requested once (T1), and keys requested again (T2). A request for an evicted key makes its list larger.
///
/// Megiddo, Modha: ARC, a Self-Tuning, Low Overhead Replacement Cache (FAST 2003). B1 and B2 have evicted keys of T1 and T2.
struct ARC: Policy {
  static let name = "ARC"
  private static let t1 = 0
  private static let t2 = 1
  private static let b1 = 2
  private static let b2 = 3

  private let capacity: Int
  private var lists: Lists
  /// The size that T1 should have.
  private var target = 0.0

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    lists = Lists(4, keys: keys)
  }

  var count: Int { lists.counts[Self.t1] + lists.counts[Self.t2] }

  mutating func access(_ request: Request) -> Bool {
    let key = request.key
    let b1 = Double(lists.counts[Self.b1])
    let b2 = Double(lists.counts[Self.b2])
    if lists.contains(key, in: Self.t1) || lists.contains(key, in: Self.t2) {
      lists.move(key, to: Self.t2)
      return true
    }
    if lists.contains(key, in: Self.b1) {
      target = min(Double(capacity), target + max(1, b2 / b1))
      replace(forGhostOfT2: false)
      lists.move(key, to: Self.t2)
    } else if lists.contains(key, in: Self.b2) {
      target = max(0, target - max(1, b1 / b2))
      replace(forGhostOfT2: true)
      lists.move(key, to: Self.t2)
    } else {
      makeRoom()
      lists.append(key, to: Self.t1)
    }
    return false
  }

  /// Makes room for a new key. T1 and B1 together hold at most `capacity` keys, and all four lists hold at most twice as many.
  private mutating func makeRoom() {
    if lists.counts[Self.t1] + lists.counts[Self.b1] == capacity {
      if lists.counts[Self.t1] < capacity {
        _ = lists.removeOldest(of: Self.b1)
        replace(forGhostOfT2: false)
      } else {
        _ = lists.removeOldest(of: Self.t1)
      }
    } else if lists.counts.reduce(0, +) >= capacity {
      if lists.counts.reduce(0, +) == 2 * capacity { _ = lists.removeOldest(of: Self.b2) }
      replace(forGhostOfT2: false)
    }
  }

  private mutating func replace(forGhostOfT2: Bool) {
    guard count >= capacity else { return }
    let t1 = Double(lists.counts[Self.t1])
    let fromT1 = t1 >= 1 && (t1 > target || (forGhostOfT2 && t1 == target))
    if let victim = lists.oldest(of: fromT1 ? Self.t1 : Self.t2) {
      lists.move(victim, to: fromT1 ? Self.b1 : Self.b2)
    } else if let victim = lists.oldest(of: Self.t1) {
      lists.move(victim, to: Self.b1)
    }
  }
}
