import ArgumentParser
import Foundation
import Larder

/// The time of a hit if the store notes the use, or if the use moves the expiry, compared with a hit that does neither.
struct UsesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uses", abstract: "What a hit pays for the accounting of uses.",
    discussion: """
      Reads of 200 bytes, in turns. Rounds are short, and of each kind the lowest tenth counts: what others do on the \
      machine only adds.
      """)

  enum Kind: String, CaseIterable, ExpressibleByArgument {
    /// Reads through a handle that is read-only, so that the store notes no use.
    case silent
    case noted
    /// Reads of an entry whose expiry moves with each use.
    case kept
  }

  @Option(help: "How many entries.") var count = 1_000_000
  @Option(help: "Reads in a round.") var operations = 1_000
  @Option(help: "Rounds.") var rounds = 2_000
  @Option(help: "Only reads of this kind, of hot keys, for who counts instructions.")
  var only: Kind?
  @Option(help: "Where the store is made.") var directory = StoreReplay.usualDirectory

  func run() throws {
    let path = directory + "/larder-uses-" + UUID().uuidString
    let uses = try Uses(count: count, path: path)
    if let only {
      try uses.read(only, uses.order(of: uses.hot, operations))
    } else {
      print(try uses.report(rounds: rounds, operations: operations))
    }
    try FileManager.default.removeItem(atPath: path)
  }
}

private struct Uses {
  private let keys: [String]
  /// Namespaces that contain all keys.
  private let large: [UsesCommand.Kind: Store.Namespace]
  /// Namespaces that contain only the hot keys. In all other respects, these namespaces are like the large namespaces.
  private let small: [UsesCommand.Kind: Store.Namespace]
  /// The number of hot keys, which are read many times.
  let hot: Int

  init(count: Int, path: String) throws {
    // The keys are in random order, so that keys that are read one after the other are not neighbours in a file.
    let keys = (0..<count).map { number in
      String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
    }
    self.keys = keys
    hot = min(1000, count)
    let store = try Store(at: path)
    try Self.fill(store.namespace("large"), keys[...], .after(.hours(24)))
    try Self.fill(store.namespace("small"), keys[..<hot], .after(.hours(24)))
    try Self.fill(store.namespace("kept"), keys[..<hot], .afterAccess(.hours(24)))
    var options = Store.Options()
    options.readOnly = true
    let silent = try Store(at: path, options: options)
    large = [.silent: silent.namespace("large"), .noted: store.namespace("large")]
    small = [
      .silent: silent.namespace("small"), .noted: store.namespace("small"),
      .kept: store.namespace("kept"),
    ]
  }

  private static func fill(
    _ namespace: Store.Namespace, _ keys: ArraySlice<String>, _ end: Expiration
  ) throws {
    let value = [UInt8](repeating: 118, count: 200)
    for start in stride(from: keys.startIndex, to: keys.endIndex, by: 10_000) {
      try namespace.store.write { batch in
        for key in keys[start..<min(start + 10_000, keys.endIndex)] {
          try batch.set(value, for: key, in: namespace, expires: end)
        }
      }
    }
  }

  func report(rounds: Int, operations: Int) throws -> String {
    let few = try times([.silent, .noted, .kept], in: small, distinct: hot, rounds, operations)
    let all = try times([.silent, .noted], in: large, distinct: keys.count, rounds, operations)
    func ns(_ time: Double) -> String { String(format: "%.1f ns", time) }
    return """
      hit, hot: \(ns(few[0])); its use noted \(ns(few[1] - few[0])) more; of an entry that use keeps \
      \(ns(few[2] - few[0])) more
      hit at random among \(keys.count): \(ns(all[0])); its use noted \(ns(all[1] - all[0])) more
      """
  }

  func order(of distinct: Int, _ count: Int) -> [Int] {
    var number: UInt64 = 42
    return (0..<count).map { _ in
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(number.multipliedFullWidth(by: UInt64(distinct)).high)
    }
  }

  func read(_ kind: UsesCommand.Kind, _ order: [Int]) throws {
    try read(small[kind]!, order)
  }

  private func read(_ namespace: Store.Namespace, _ order: [Int]) throws {
    var sum = 0
    for place in order {
      sum += try namespace.withValue(for: keys[place]) { Int($0[0]) } ?? 0
    }
    precondition(sum == 118 * order.count, "a key was not found")
  }

  /// For each kind, the nanoseconds of one read.
  private func times(
    _ kinds: [UsesCommand.Kind], in spaces: [UsesCommand.Kind: Store.Namespace], distinct: Int,
    _ rounds: Int, _ operations: Int
  ) throws -> [Double] {
    let order = order(of: distinct, operations * rounds)
    var times = kinds.map { _ in [Double]() }
    for round in 0..<rounds {
      // Each kind reads the same keys, but in rounds that are far apart. So no kind profits from cached pages of another kind.
      for (index, kind) in kinds.enumerated() {
        let part = (round + index * rounds / kinds.count) % rounds
        let keys = Array(order[part * operations..<(part + 1) * operations])
        let time = try ContinuousClock().measure { try read(spaces[kind]!, keys) }
        times[index].append(time / .nanoseconds(operations))
      }
    }
    return times.map { $0.sorted()[rounds / 10] }
  }
}
