extension Bench {
  static let batch = 1000

  /// Inserts new entries at random places, a thousand entries in each transaction. The result is the time of one entry.
  func inserts() throws {
    var fresh = FreshEntries(data)
    try inserts("insert, batches of 1,000", of: &fresh) { _ in nil }
  }

  func inserts(
    _ workload: String, of fresh: inout FreshEntries, unless reason: (Contender) -> Unsupported?
  ) throws {
    var counts: [String: Int] = [:]
    try measure(workload, rounds: settings.rounds) { contender, _ in
      if let reason = reason(contender) { throw reason }
      return try batches(contender, &counts) { fresh.next(Self.batch, of: contender) }
    }
  }

  /// Inserts new entries one by one and without a pause. So the time includes the work that a store delays.
  func singleInserts(
    _ workload: String, of fresh: inout FreshEntries, unless reason: (Contender) -> Unsupported?
  ) throws {
    var counts: [String: Int] = [:]
    try measure(workload, rounds: settings.rounds) { contender, _ in
      if let reason = reason(contender) { throw reason }
      defer { contender.settle() }
      return try fit(contender, in: &counts, least: 3, most: 20_000, time: longRoundTime) { count in
        (try one(contender, fresh.next(count, of: contender), on: .wall), count)
      }
    }
  }

  /// Writes stored entries again with a later expiry, 1,000 entries in each transaction. The result is the time of one entry.
  func refreshes() throws {
    let order = Orders.random(data, distinct: data.count)
    var counts: [String: Int] = [:]
    try measure("overwrite, batches of 1,000", rounds: settings.rounds) { contender, round in
      var number = round
      return try batches(contender, &counts) {
        number += 1
        return Orders.piece(of: order, round: number, count: Self.batch)
      }
    }
  }

  /// The nanoseconds of one entry in batches. A round has 1 to 10 batches: as many as fit into the time of a round.
  private func batches(
    _ contender: Contender, _ counts: inout [String: Int], _ next: () -> Order
  ) throws -> Double {
    if contender.site.level == .durable, !contender.kind.hasBatches {
      throw Unsupported("has no transactions: a batch is as many single writes")
    }
    defer { contender.settle() }
    return try fit(contender, in: &counts, least: 1, most: 10) { count in
      var time = 0.0
      for _ in 0..<count {
        let piece = next()
        time += try contender.timeWrite(on: settings.clock, piece)
      }
      return (time, count)
    } / Double(Self.batch)
  }

  /// Writes stored entries again, one by one, with only a few writes in a round, like a program that pauses between its writes.
  func singles() throws {
    try singles("single write", most: 5000, time: settings.roundTime, on: settings.clock)
  }

  /// Writes stored entries again, one by one and without a pause. So the time includes the work that a store delays.
  func singlesWithoutPause() throws {
    // The stores do a part of this work on other threads, so the wall clock is used.
    try singles(
      "single writes without a pause", most: Orders.length, time: longRoundTime, on: .wall)
  }

  private func singles(_ name: String, most: Int, time: Double, on clock: RunClock) throws {
    let order = Orders.random(data, distinct: data.count)
    var counts: [String: Int] = [:]
    try measure(name, rounds: settings.rounds) { contender, round in
      defer { contender.settle() }
      return try fit(contender, in: &counts, least: 3, most: most, time: time) { count in
        let piece = Orders.piece(of: order, round: round, count: count)
        return (try one(contender, piece, on: clock), count)
      }
    }
  }

  /// A time of a round that includes the work that stores do in the background.
  private var longRoundTime: Double { settings.roundTime * 10 }

  /// Writes the entries one by one, and returns the nanoseconds of all writes together.
  private func one(_ contender: Contender, _ order: Order, on clock: RunClock) throws -> Double {
    var time = 0.0
    for at in order.indices {
      time += try contender.timeWrite(on: clock, order[at...at])
    }
    return time
  }

  /// 64 threads write at the same time. Each thread writes its entries one by one.
  func crowd() throws {
    let threads = 64
    let order = Orders.random(data, distinct: data.count)
    try measure(
      [
        ("64 writers, times the rate of one", .factor),
        ("64 writers, time of a write", .nanoseconds),
      ],
      rounds: settings.longRounds
    ) { contender, round in
      defer { contender.settle() }
      let count = contender.site.level == .durable ? 20 : 100
      let alone = try one(
        contender, Orders.piece(of: order, round: round, count: count * 2), on: .wall)
      let peer = contender.peer
      let time = try onThreads(threads, prepare: { _ in try peer.session() }) { thread, session in
        let piece = Orders.piece(of: order, round: round + 17 * thread, count: count)
        for at in piece.indices { try session.write(piece[at...at], lifetime: .day) }
      }
      let together = time / Double(threads * count)
      return [alone / Double(count * 2) / together, together]
    }
    try measure("64 tasks, time of a write", rounds: settings.rounds) { contender, round in
      let count = contender.site.level == .durable ? 20 : 100
      let pieces = (0..<threads).map { task in
        Orders.piece(of: order, round: round + 17 * task, count: count)
      }
      return try contender.peer.writeInTasks(pieces) / Double(threads * count)
    }
  }

  /// Repeats 19 reads and one write. The keys follow Zipf's law.
  func mixed() throws {
    let order = Orders.zipf(data)
    var counts: [String: Int] = [:]
    try measure("95 reads to 5 writes, Zipf keys", rounds: settings.rounds) { contender, round in
      defer { contender.settle() }
      return try fit(contender, in: &counts, least: 200, time: longRoundTime) { count in
        let piece = Orders.piece(of: order, round: round, count: count / 20 * 20)
        var time = 0.0
        var start = piece.startIndex
        while start < piece.endIndex {
          let reads = piece[start..<start + 19]
          let write = piece[start + 19...start + 19]
          var tally = Tally()
          time += try contender.time(on: settings.clock) { tally = try $0.read(reads) }
          time += try contender.timeWrite(on: settings.clock, write)
          guard tally == data.expected(reads) else { throw Failure("read other bytes") }
          start += 20
        }
        return (time, piece.count)
      }
    }
  }
}

/// Entries that a store does not have yet. If a store has got nearly all of them, it gets entries near the first one again.
struct FreshEntries {
  private let order: [UInt32]
  private var done: [String: Int] = [:]

  init(_ data: Dataset) { order = Orders.once(data.spare) }

  mutating func next(_ count: Int, of contender: Contender) -> Order {
    let start = done[contender.kind.id, default: 0] % (order.count - count + 1)
    done[contender.kind.id] = start + count
    return order[start..<start + count]
  }
}
