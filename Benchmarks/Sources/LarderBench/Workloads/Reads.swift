import BenchData

extension Bench {
  /// Hits of a thousand hot keys, hits of random keys, misses, reads of expired entries, and a scan of the namespace.
  func reads() throws {
    // The scan is first, because it loads all pages into memory. So all later workloads find the same state.
    try scan()
    try measureReads(
      "hit, hot keys", order: Orders.random(data, distinct: min(1000, data.count)),
      expecting: data.expected)
    try measureReads(
      "hit, random keys", order: Orders.random(data, distinct: data.count),
      expecting: data.expected)
    let absent = Orders.once(data.absent)
    try measureReads("miss", order: absent, expecting: { _ in Tally() })
    try expired()
  }

  private func scan() throws {
    let whole = data.expected(Array(0..<UInt32(data.count))[...])
    try measure("scan, per entry", rounds: settings.longRounds) { contender, _ in
      var tally = Tally()
      let time = try contender.clock(settings.clock).time {
        tally = try contender.peer.scan()
      }
      guard tally == whole else { throw Failure("scanned \(tally), not \(whole)") }
      return time / Double(tally.found)
    }
  }

  private func expired() throws {
    var cannot: [String: Unsupported] = [:]
    for contender in contenders {
      do {
        try naming(contender, "filling") { try contender.fill(data.expired, lifetime: .over) }
      } catch let error as Unsupported {
        cannot[contender.kind.id] = error
      }
    }
    let order = Orders.once(data.expired)
    try measureReads(
      "expired", order: order, expecting: { _ in Tally() }, unless: { cannot[$0.kind.id] })
  }

  /// The first read of each entry after opening. This read is slower if a store verifies a value only at its first read.
  func firstReads() throws {
    let order = Orders.once(0..<UInt32(data.count))
    try measure("hit, first read after opening", rounds: settings.longRounds) { contender, _ in
      if contender.kind.readLevel == .memory {
        throw Unsupported("forgets everything when it closes")
      }
      try contender.reopen()
      // Reads of absent keys load the index pages, but no entry. So the measured time is only for the entries.
      _ = try contender.session.read(Orders.once(data.absent)[...].prefix(1000))
      var tally = Tally()
      let time = try contender.time(on: settings.clock) {
        tally = try $0.read(order[...])
      }
      guard tally == data.expected(order[...]) else { throw Failure("read other bytes") }
      return time / Double(order.count)
    }
  }
}
