/// How large the window may be, as a share of the capacity, and what moves it.
struct WindowTarget {
  private(set) var share: Double
  /// Evictions from each part, fading.
  private var window: Double
  private var main: Double
  /// Regrets of one part in a row.
  private var run: UInt64
  private var runPart: QueuePart

  private static let first = 0.10
  private static let lowest = 0.01
  private static let highest = 0.80
  /// A regret moves the target by half of what the entry takes, or by this share of the capacity if that is more: in a large
  /// cache regrets are few against what must change.
  private static let leastStep = 0.0001
  /// So many regrets in a row double the step.
  private static let doubling = 8.0
  private static let mostBoost = 64.0
  private static let one = Double(UInt64(1) << 32)

  init(_ state: QueueState) {
    share = state.target == 0 ? Self.first : Double(state.target) / Self.one
    window = Double(bitPattern: state.windowEvictions)
    main = Double(bitPattern: state.mainEvictions)
    run = state.run / 2
    runPart = state.run % 2 == 0 ? .window : .main
  }

  func store(in state: inout QueueState) {
    state.target = UInt64(share * Self.one)
    state.windowEvictions = window.bitPattern
    state.mainEvictions = main.bitPattern
    state.run = run * 2 + UInt64(runPart.rawValue)
  }

  /// An entry came back that takes `share` of the capacity, soon after it was evicted from `part`.
  mutating func regret(_ part: QueuePart, share size: Double) {
    run = part == runPart ? min(run + 1, UInt64(Self.mostBoost * Self.doubling)) : 1
    runPart = part
    let (own, other) = part == .window ? (window, main) : (main, window)
    let ratio = own > 0 ? min(64, max(1, other / own)) : 1
    let boost = min(Self.mostBoost, 1 + Double(run) / Self.doubling)
    let step = max(0.5 * size, Self.leastStep) * ratio * boost
    share = min(max(share + (part == .window ? step : -step), Self.lowest), Self.highest)
  }

  mutating func evicted(from part: QueuePart, of entries: UInt64) {
    let fade = 1 - 0.5 / Double(max(1, entries))
    window *= fade
    main *= fade
    if part == .window { window += 1 } else { main += 1 }
  }
}
