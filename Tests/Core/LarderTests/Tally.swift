import Synchronization

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
