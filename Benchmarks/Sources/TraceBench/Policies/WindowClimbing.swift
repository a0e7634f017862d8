/// The rule by which the window of W-TinyLFU grows and shrinks.
protocol WindowClimbing: SendableMetatype {
  static var policyName: String { get }
  init(capacity: Int)
  /// Called after each request. Returns by how many entries the window grows (negative: shrinks), or nil for no change.
  mutating func change(hit: Bool) -> Int?
}

struct FixedWindow: WindowClimbing {
  static let policyName = "W-TinyLFU"
  init(capacity: Int) {}
  mutating func change(hit: Bool) -> Int? { nil }
}

/// Keeps its direction while the hit ratio rises, and turns when the ratio falls. Steps shrink until the ratio changes much.
///
/// The first step makes the window larger, because a window of 1 % cannot become smaller.
///
/// Einziger, Eytan, Friedman, Manes: Adaptive Software Cache Management (Middleware 2018). The constants are those of Caffeine.
struct HillClimbing: WindowClimbing {
  static let policyName = "W-TinyLFU, climbing"
  private let capacity: Int
  private var step: Double
  private var requests = 0
  private var hits = 0
  private var lastRatio = 0.0

  init(capacity: Int) {
    self.capacity = capacity
    step = 0.0625 * Double(capacity)
  }

  mutating func change(hit: Bool) -> Int? {
    requests += 1
    hits += hit ? 1 : 0
    guard requests >= 10 * capacity else { return nil }
    let ratio = Double(hits) / Double(requests)
    let gain = ratio - lastRatio
    let amount = gain >= 0 ? step : -step
    let whole = 0.0625 * Double(capacity)
    step = abs(gain) >= 0.05 ? (amount >= 0 ? whole : -whole) : 0.98 * amount
    lastRatio = ratio
    requests = 0
    hits = 0
    return Int(amount)
  }
}
