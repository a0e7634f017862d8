import Synchronization

/// How several threads ended.
final class Outcomes: Sendable {
  private let failures = Mutex<[any Error]>([])

  func add(_ result: Result<Void, any Error>) {
    if case .failure(let error) = result { failures.withLock { $0.append(error) } }
  }

  func check() throws {
    if let first = failures.withLock({ $0.first }) { throw first }
  }
}

/// A count that several threads raise.
final class Tally: Sendable {
  private let count = Atomic(0)

  func add(_ amount: Int = 1) { count.add(amount, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}

/// A value that several threads change.
final class Box<Value: Sendable>: Sendable {
  private let stored: Mutex<Value>

  init(_ value: Value) { stored = Mutex(value) }

  var value: Value { stored.withLock { $0 } }
  func change(_ body: (inout Value) -> Void) { stored.withLock { body(&$0) } }
}

/// Random numbers that come again with the same seed.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func roll(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func chance(_ percent: Int) -> Bool { roll(0..<100) < percent }
}
