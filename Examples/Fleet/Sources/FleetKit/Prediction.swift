import Foundation

/// The requests that a fleet of many machines would send to its tier and to its origin.
///
/// The first table is a computation for each key. Reads come at random (a Poisson process), and the popularity of keys falls by
/// Zipf's law. The second table is a simulation of each request while a fault happens.
public enum Prediction {
  /// Prints both tables. The seed is for the simulation.
  public static func print(seed: UInt64) {
    Swift.print(Steady.title)
    for machines in [10, 100, 1000] { Swift.print(Steady(machines: machines).line) }
    Swift.print(Steady(machines: 1000, lifetime: 3600, note: "lifetime 1 h").line)
    Swift.print(Steady(machines: 1000, changes: 5000, note: "5,000 changes/s").line)
    Swift.print("\n" + Disturbance.title)
    for machines in [10, 100, 1000] {
      for kind in Disturbance.Kind.allCases {
        Swift.print(Disturbance(machines: machines, kind, seed: seed).line)
      }
    }
  }
}

/// A fleet in its usual state.
struct Steady {
  static let title =
    "machines  memory   disk   tier  origin  tier reads/s  loads/s: leases  no leases  no tier  stale without log"
  static let keys = 10_000_000
  /// Reads of a machine in a second, the number of values in memory and on disk, and the seconds of a load.
  static let (reads, inMemory, onDisk, load) = (2000.0, 20_000, 2_000_000, 0.2)
  static let exponent = 0.9

  var machines: Int
  var note: String
  var (memory, disk, tier, origin) = (0.0, 0.0, 0.0, 0.0)
  var (unleased, alone, stale) = (0.0, 0.0, 0.0)

  /// - Parameters:
  ///   - lifetime: how long a value stays fresh, in seconds.
  ///   - changes: removals in a second, spread over the keys like reads.
  init(machines: Int, lifetime: Double = 300, changes: Double = 500, note: String = "") {
    self.machines = machines
    self.note = note
    let fleet = Double(machines)
    var sum = 0.0
    for rank in 1...Self.keys { sum += pow(Double(rank), -Self.exponent) }
    for rank in 1...Self.keys {
      let share = pow(Double(rank), -Self.exponent) / sum
      let (read, change) = (Self.reads * share, changes * share)
      // A value is valid until its lifetime has passed or its key changes. The next read by any machine then loads a new value.
      let ended = -expm1(-change * lifetime) / change
      let cycle = ended + 1 / (fleet * read)
      let loads = 1 / cycle
      // While the value is valid, each machine that reads the value fetches it once, except the machine that loaded it.
      let both = read + change
      let unread = change / both * -expm1(-both * lifetime) + exp(-both * lifetime)
      let fetches =
        rank > Self.onDisk
        ? fleet * read - loads : max(fleet * loads * (1 - unread) - loads, 0)
      let hits = max(fleet * read - loads - fetches, 0)
      if rank <= Self.inMemory { memory += hits } else { disk += hits }
      tier += fetches
      origin += loads
      // Without leases, every machine that asks during a load also loads.
      unleased += loads * (1 + (fleet - 1) * -expm1(-read * Self.load))
      let mine = rank > Self.onDisk ? read : 1 / (lifetime + 1 / read)
      alone += fleet * mine
      if rank <= Self.onDisk {
        let old = 1 + expm1(-change * lifetime) / (change * lifetime)
        stale += fleet * (read - mine) * old
      }
    }
  }

  var line: String {
    let all = memory + disk + tier + origin
    func percent(_ part: Double) -> String { String(format: "%6.1f%%", 100 * part / all) }
    return String(format: "%8d ", machines)
      + [percent(memory), percent(disk), percent(tier), percent(origin)].joined()
      + String(
        format: "%14.0f%17.0f%11.0f%9.0f%18.0f%%  ", tier, origin, unleased, alone,
        100 * stale / all) + note
  }
}

/// A fleet in which a fault happens after a minute: in each second 4,000 reads of 2,000 keys, for any number of machines.
struct Disturbance {
  static let title =
    "machines  what happens                        origin/s: before  peak   tier/s: before  peak   stale reads  oldest s"
  static let (keys, readsPerSecond, lifetime, load) = (2000, 4000, 300.0, 0.2)
  static let (changesPerSecond, seconds, fault) = (5, 120, 60)

  enum Kind: String, CaseIterable {
    case nothing = "nothing"
    case flushLeased = "flushed; leases"
    case flushUnleased = "flushed; no leases"
    case untold = "10 s of changes are not told"
    case replayed = "10 s untold, then the log is replayed"
    case dropped = "10 s untold, then copies are dropped"
    case down = "tier down for 20 s, copies are used"

    var hasGap: Bool { self == .untold || self == .replayed || self == .dropped }
  }

  private var machines: Int
  private var kind: Kind
  private var origin = [Int](repeating: 0, count: seconds)
  private var tier = [Int](repeating: 0, count: seconds)
  private var (stale, reads, oldest) = (0, 0, 0.0)

  private struct Value { var (version, end) = (0, 0.0) }

  init(machines: Int, _ kind: Kind, seed: UInt64) {
    self.machines = machines
    self.kind = kind
    var choice = Choice(seed)
    var weights: [Double] = []
    var sum = 0.0
    for rank in 1...Self.keys {
      sum += 1 / Double(rank)
      weights.append(sum)
    }
    func key() -> Int {
      let wanted = Double(choice.next(1 << 30)) / Double(1 << 30) * sum
      var (low, high) = (0, Self.keys - 1)
      while low < high {
        let middle = (low + high) / 2
        if weights[middle] < wanted { low = middle + 1 } else { high = middle }
      }
      return low
    }
    var versions = [Int](repeating: 0, count: Self.keys)
    var changed = [Double](repeating: 0, count: Self.keys)
    // At the start every value is in the tier and on every machine, at a random age.
    var shared = (0..<Self.keys).map { _ in
      Value(version: 0, end: Double(choice.next(1000)) / 1000 * Self.lifetime)
    }
    var copies = shared.map { value in [Value](repeating: value, count: machines) }
    var loading = [Double](repeating: -1, count: Self.keys)
    var missed: [Int] = []
    for step in 0..<Self.seconds * Self.readsPerSecond {
      let now = Double(step) / Double(Self.readsPerSecond)
      let second = step / Self.readsPerSecond
      let isGap = kind.hasGap && second >= Self.fault && second < Self.fault + 10
      let isDown = kind == .down && second >= Self.fault && second < Self.fault + 20
      if step == Self.fault * Self.readsPerSecond, kind == .flushLeased || kind == .flushUnleased {
        // The flush also loses the history of the log, so no machine uses its copies.
        for key in 0..<Self.keys {
          shared[key].end = 0
          for machine in 0..<machines { copies[key][machine].end = 0 }
        }
      }
      if step == (Self.fault + (kind == .down ? 20 : 10)) * Self.readsPerSecond {
        if kind == .replayed || kind == .down {
          for key in missed {
            for machine in 0..<machines { copies[key][machine].end = 0 }
            // The removals waited while the tier was down, so until now the tier had the values from before the removals.
            if kind == .down { shared[key].end = 0 }
          }
        } else if kind == .dropped {
          for key in 0..<Self.keys { for machine in 0..<machines { copies[key][machine].end = 0 } }
        }
      }
      if step % (Self.readsPerSecond / Self.changesPerSecond) == 0 {
        let key = choice.next(Self.keys)
        versions[key] += 1
        changed[key] = now
        if !isDown { shared[key] = Value(version: versions[key], end: now + Self.lifetime) }
        if isGap || isDown {
          missed.append(key)
        } else {
          for machine in 0..<machines { copies[key][machine].end = 0 }
        }
      }
      let (key, machine) = (key(), choice.next(machines))
      reads += 1
      if copies[key][machine].end > now {
        if copies[key][machine].version < versions[key] {
          stale += 1
          oldest = max(oldest, now - changed[key])
        }
        continue
      }
      if !isDown {
        tier[second] += 1
        if shared[key].end > now, loading[key] <= now {
          copies[key][machine] = shared[key]
          continue
        }
        // With a lease one machine loads, and the other machines wait for its value.
        if loading[key] > now, kind != .flushUnleased {
          copies[key][machine] = Value(version: versions[key], end: now + Self.lifetime)
          continue
        }
      }
      origin[second] += 1
      copies[key][machine] = Value(version: versions[key], end: now + Self.lifetime)
      if !isDown {
        shared[key] = copies[key][machine]
        loading[key] = now + Self.load
      }
    }
  }

  var line: String {
    // Omits the first seconds, in which the simulation settles.
    let before = 20..<Self.fault
    func mean(_ counts: [Int]) -> Int { counts[before].reduce(0, +) / before.count }
    func peak(_ counts: [Int]) -> Int { counts[Self.fault...].max() ?? 0 }
    return String(format: "%8d  ", machines)
      + kind.rawValue.padding(toLength: 40, withPad: " ", startingAt: 0)
      + String(
        format: "%12d%6d%17d%6d%13.1f%%%10.0f", mean(origin), peak(origin), mean(tier), peak(tier),
        100 * Double(stale) / Double(reads), oldest)
  }
}
