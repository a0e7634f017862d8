extension Bench {
  /// Writes stored entries again, one by one at a steady rate. The time of a write begins when the write is due. So the time
  /// includes the wait for an earlier slow write.
  func paced() throws {
    let order = Orders.random(data, distinct: data.count)
    try paced("write at 50,000 a second", rate: 50_000) { _, round, count in
      Orders.piece(of: order, round: round, count: count)
    }
  }

  func paced(
    _ name: String, rate: Int, _ entries: (Contender, _ round: Int, _ count: Int) throws -> Order
  ) throws {
    try measure(
      [
        ("\(name), p99", .nanoseconds), ("\(name), p99.9", .nanoseconds),
        ("\(name), longest", .nanoseconds),
      ],
      rounds: settings.longRounds
    ) { contender, round in
      if contender.peer.server != nil { throw Unsupported("is a process of its own") }
      defer { contender.settle() }
      var times: [Double] = []
      times.reserveCapacity(rate)
      let piece = try entries(contender, round, rate)
      let begin = ContinuousClock.now
      for at in piece.indices {
        let due = begin + .seconds(1) / rate * times.count
        while ContinuousClock.now < due {}
        try contender.session.write(piece[at...at], lifetime: .day)
        times.append((ContinuousClock.now - due) / .nanoseconds(1))
        if times[times.count - 1] > 10e9 { break }
      }
      if times[times.count - 1] > 1e9 { throw Unsupported("writes less in a second") }
      times.sort()
      return [
        times[times.count * 99 / 100], times[times.count * 999 / 1000], times[times.count - 1],
      ]
    }
  }
}
