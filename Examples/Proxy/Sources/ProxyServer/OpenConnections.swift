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
  private let ending = Atomic(false)

  init(limit: Int, clock: any LarderClock) {
    self.limit = limit
    self.clock = clock
  }

  var count: Int { state.withLock { $0.connections.count } }
  var all: [Connection] { state.withLock { Array($0.connections.values) } }

  /// Whether each connection ends after the answer to the request that is under way.
  var isEnding: Bool { ending.load(ordering: .relaxed) }

  /// Registers a connection until ``remove(_:)``.
  func add(_ connection: Connection) -> (number: UInt64, admission: Admission) {
    state.withLock { state in
      guard !isEnding, state.connections.count < limit + ProxyLimits.refusals else {
        return (0, .dropped)
      }
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

  /// Ends connections between two requests at once, and others after the answer to theirs: after `limit` at the latest, or
  /// when the task is cancelled.
  func end(within limit: Duration) async {
    let open = state.withLock { state in
      ending.store(true, ordering: .relaxed)
      return Array(state.connections.values)
    }
    for connection in open { connection.endAtRequest() }
    await withTaskGroup(of: Void.self) { [clock] group in
      group.addTask { for connection in open { await connection.waitForEnd() } }
      group.addTask {
        do {
          try await clock.sleep(until: clock.monotonic + limit)
        } catch {
          // Whoever waits has no more time.
        }
      }
      await group.next()
      for connection in open { connection.close() }
      group.cancelAll()
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
      for connection in all {
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
  private struct Reading {
    var end: Duration
    /// How much the other side had not taken at the last look.
    var untaken: Int?
  }
  /// Both may wait at once: a body that still comes, and an answer that comes before its end.
  private let ends = Mutex<(send: Duration?, read: Reading?)>((nil, nil))
  /// After this time the next look finds what the other side has taken.
  private let pause: Duration

  /// - Parameter write: the longest time for which the other side may take nothing. It is looked at twice in that time.
  init(_ clock: any LarderClock, write: Duration) {
    self.clock = clock
    pause = write / 2
  }

  /// The other side must send something within that time.
  func begin(_ limit: Duration) {
    let end = clock.monotonic + limit
    ends.withLock { $0.send = end }
  }

  /// The other side must read.
  func beginWrite() {
    let end = clock.monotonic + pause
    ends.withLock { $0.read = Reading(end: end) }
  }

  func clear(_ subject: Subject) {
    ends.withLock { ends in
      switch subject {
      case .send: ends.send = nil
      case .read: ends.read = nil
      }
    }
  }

  /// Notes how much the other side has not taken yet; false if it has taken nothing since the last look.
  func mayGoOn(untaken: Int) -> Bool {
    ends.withLock { ends in
      // The write has ended since.
      guard let last = ends.read else { return true }
      ends.read?.untaken = untaken
      return last.untaken.map { untaken < $0 } ?? true
    }
  }

  /// What should have happened by now, once; nil if nothing should.
  func expire(at now: Duration) -> Subject? {
    ends.withLock { ends in
      if let end = ends.read?.end, end <= now {
        ends.read?.end = now + pause
        return .read
      }
      guard let end = ends.send, end <= now else { return nil }
      ends.send = nil
      return .send
    }
  }
}
