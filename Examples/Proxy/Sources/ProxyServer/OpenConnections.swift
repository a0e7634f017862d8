import Larder
import Synchronization

/// The connections of clients: their number, and the ends of their time limits.
final class OpenConnections: Sendable {
  /// The treatment of a new connection.
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

  /// Whether each connection ends after the answer to a request under way.
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

  /// Ends connections between two requests immediately, and other connections after their answer. All connections end at the
  /// latest after `limit`, or when the task is cancelled.
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
          // A cancelled caller must not wait any longer.
        }
      }
      await group.next()
      for connection in open { connection.close() }
      group.cancelAll()
    }
  }

  /// Ends the connections whose time has passed, once a second, until the task is cancelled.
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

/// The time limits of the other side of a connection.
final class Deadline: Sendable {
  /// The action that the other side must take in time.
  enum Subject { case send, read }

  private let clock: any LarderClock
  private struct Reading {
    var end: Duration
    /// The number of bytes that the other side had not taken at the last look.
    var untaken: Int?
  }
  /// Both limits may run at the same time, because the answer may come before the end of the request's body.
  private let ends = Mutex<(send: Duration?, read: Reading?)>((nil, nil))
  /// The time between two looks at the bytes that the other side has taken.
  private let pause: Duration

  /// - Parameter write: the longest time in which the other side may take nothing. There are two looks in that time.
  init(_ clock: any LarderClock, write: Duration) {
    self.clock = clock
    pause = write / 2
  }

  /// Begins the time in which the other side must send something.
  func begin(_ limit: Duration) {
    let end = clock.monotonic + limit
    ends.withLock { $0.send = end }
  }

  /// Begins the time in which the other side must take bytes.
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

  /// Notes the number of bytes that the other side has not taken. Returns false if no bytes were taken after the last look.
  func mayGoOn(untaken: Int) -> Bool {
    ends.withLock { ends in
      // The write has ended, so the other side is not late.
      guard let last = ends.read else { return true }
      ends.read?.untaken = untaken
      return last.untaken.map { untaken < $0 } ?? true
    }
  }

  /// The action that the other side has not taken in time; nil if neither action is late. Reports a late send only once.
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
