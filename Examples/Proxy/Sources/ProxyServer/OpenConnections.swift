import Larder
import Synchronization

/// The connections of clients: their number, and the end of what each of them waits for.
final class OpenConnections: Sendable {
  /// How a new connection is received.
  enum Admission { case admitted, refused, dropped }

  private struct State {
    var connections: [UInt64: Connection] = [:]
    var next: UInt64 = 0
    var refused = 0
  }

  private let limit: Int
  private let clock: any LarderClock
  private let state = Mutex(State())

  init(limit: Int, clock: any LarderClock) {
    self.limit = limit
    self.clock = clock
  }

  var count: Int { state.withLock { $0.connections.count } }

  /// Registers a connection until ``remove(_:)``.
  func add(_ connection: Connection) -> (number: UInt64, admission: Admission) {
    state.withLock { state in
      guard state.connections.count < limit + ProxyLimits.refusals else { return (0, .dropped) }
      let isAdmitted = state.connections.count - state.refused < limit
      if !isAdmitted { state.refused += 1 }
      state.next += 1
      state.connections[state.next] = connection
      return (state.next, isAdmitted ? .admitted : .refused)
    }
  }

  func remove(_ number: UInt64, _ admission: Admission) {
    state.withLock { state in
      guard state.connections.removeValue(forKey: number) != nil else { return }
      if admission == .refused { state.refused -= 1 }
    }
  }

  /// Ends the connections whose time is over, once a second, until it is cancelled.
  func watch() async {
    while !Task.isCancelled {
      do {
        try await clock.sleep(until: clock.monotonic + .seconds(1))
      } catch {
        return
      }
      let now = clock.monotonic
      for connection in state.withLock({ Array($0.connections.values) }) {
        if let subject = connection.deadline.expire(at: now) { connection.timeOut(subject) }
      }
    }
  }
}

/// The time until which a connection must have moved on.
final class Deadline: Sendable {
  /// What the other side is to do.
  enum Subject { case send, read }

  private let clock: any LarderClock
  /// Both may wait at once: a body that still comes, and an answer that comes before its end.
  private let ends = Mutex<(send: Duration?, read: Duration?)>((nil, nil))

  init(_ clock: any LarderClock) { self.clock = clock }

  func begin(_ limit: Duration, to subject: Subject) {
    let end = clock.monotonic + limit
    set(end, subject)
  }

  func clear(_ subject: Subject) { set(nil, subject) }

  private func set(_ end: Duration?, _ subject: Subject) {
    ends.withLock { ends in
      switch subject {
      case .send: ends.send = end
      case .read: ends.read = end
      }
    }
  }

  /// What should have happened by now, once; nil if nothing should.
  func expire(at now: Duration) -> Subject? {
    ends.withLock { ends in
      if let end = ends.read, end <= now {
        ends.read = nil
        return .read
      }
      guard let end = ends.send, end <= now else { return nil }
      ends.send = nil
      return .send
    }
  }
}
