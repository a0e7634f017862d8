import Larder

/// The progress of the process that has the lease and reads the log. A *history* is one uninterrupted sequence of records of
/// the log. If the server loses records, or this machine has missed removed records, the store begins with another history.
struct LogFollower {
  /// The time between two looks at the head (the newest record), and the longest wait of one request for a record.
  static let interval = Duration.milliseconds(500)
  /// How often the position is stored while the records concern no copy.
  private static let progressInterval = Duration.seconds(10)

  struct Look {
    var head: Position
    var moment: Duration
    var wall: Timestamp
  }

  private let reader: LogReader
  private var progress: LocalState.Progress
  private var written: Duration
  /// The time of the last look at the head in the present history; nil before the first look in this history.
  private var looked: Duration?
  /// A newest record that is not applied yet. After its application, the copies are confirmed for the time of the look.
  private var goal: Look?
  /// Whether the store has begun with another history, and no look has found that history yet.
  private var hasBegun = false
  /// The time at which the last records were applied or, if a pause followed, at which the pause ended.
  private var answered: Duration?

  init(_ reader: LogReader, at progress: LocalState.Progress) {
    self.reader = reader
    self.progress = progress
    written = reader.clock.monotonic
  }

  private var now: Duration { reader.clock.monotonic }

  var isLookDue: Bool { goal == nil && (looked.map { now - $0 >= Self.interval } ?? true) }

  /// Reads the head. If the log has another history, begins with that history and returns nil.
  mutating func look() async throws -> Look? {
    let (moment, wall) = (now, reader.copies.store.now)
    let found = try await reader.tier.look(at: progress.position)
    guard let head = found.head, found.record?.digest == progress.digest else {
      try await beginAnew()
      return nil
    }
    looked = moment
    hasBegun = false
    return Look(head: head, moment: moment, wall: wall)
  }

  /// Confirms the copies if all records up to the head were read; otherwise makes the head the goal.
  mutating func compare(_ look: Look) async throws {
    if look.head == progress.position {
      try await reader.copies.confirm(monotonic: look.moment, wall: look.wall)
    } else {
      goal = look
    }
    reader.copies.recent.publish(applied: progress.position, head: look.head)
  }

  /// Applies the next records. Waits for records if there is no goal.
  mutating func readRecords() async throws {
    let records = try await reader.tier.records(
      after: progress.position, waiting: goal == nil ? Self.interval : .zero)
    if records.isEmpty, goal == nil { return }
    guard let next = progress(after: records) else {
      try await beginAnew()
      return
    }
    try await apply(records, next)
    if let goal, records.contains(where: { $0.position == goal.head }) {
      try await reader.copies.confirm(monotonic: goal.moment, wall: goal.wall)
      self.goal = nil
    }
    try await pace(records.count)
  }

  /// The progress after these records; nil without a record, or if the records do not follow the present progress.
  private func progress(after records: [LogRecord]) -> LocalState.Progress? {
    if records.isEmpty { return nil }
    var next = progress
    for record in records {
      guard record.previous == next.digest else { return nil }
      (next.position, next.digest) = (record.position, record.digest)
    }
    return next
  }

  private mutating func apply(_ records: [LogRecord], _ next: LocalState.Progress) async throws {
    let isDue = now - written >= Self.progressInterval
    guard let removed = try await reader.copies.apply(records, next, keepsProgress: isDue) else {
      // Nil: another process of the store has begun a new history, so this process continues with that history.
      progress = try await reader.start()
      (goal, looked) = (nil, nil)
      return
    }
    if isDue || removed > 0 { written = now }
    progress = next
    reader.copies.recent.publish(applied: progress.position, head: nil)
    reader.count {
      $0.records += records.count
      $0.superseded += removed
    }
  }

  /// Begins with a new history, because the log lacks records that this machine has missed, or has another history.
  private mutating func beginAnew() async throws {
    // A server could lose each new history immediately, so further attempts wait.
    if hasBegun { try await reader.clock.sleep(until: now + Self.interval) }
    hasBegun = true
    reader.count { $0.gaps += 1 }
    progress = try await reader.begin(insteadOf: progress)
    (goal, looked) = (nil, nil)
  }

  /// Waits if changes come shortly after each other, because one reply with many changes takes less time than many replies.
  private mutating func pace(_ count: Int) async throws {
    let (moment, before) = (now, answered)
    answered = moment
    let pace = reader.options.pace
    guard goal == nil, pace > .zero, count > 1 || before.map({ moment - $0 < pace }) ?? false
    else { return }
    try await reader.clock.sleep(until: moment + pace)
    answered = now
  }
}
