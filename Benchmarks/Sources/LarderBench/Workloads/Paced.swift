extension Bench {
  /// Writes stored entries again, one by one at a steady rate. The time of a write begins when the write is due. So the time
  /// includes the wait for an earlier slow write.
  func paced() throws {
    let order = Orders.random(data, distinct: data.count)
    let (rate, name) = (50_000, "write at 50,000 a second")
    try measure(
      [("\(name), p99.9", .nanoseconds), ("\(name), longest", .nanoseconds)],
      rounds: settings.longRounds
    ) { contender, round in
      if contender.peer.server != nil { throw Unsupported("is a process of its own") }
      defer { contender.settle() }
      var times: [Double] = []
      times.reserveCapacity(rate)
      let piece = Orders.piece(of: order, round: round, count: rate)
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
      return [times[times.count * 999 / 1000], times[times.count - 1]]
    }
  }
}
