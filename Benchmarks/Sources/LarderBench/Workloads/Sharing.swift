extension Bench {
  /// Random hits by two threads. The result is their rate divided by the rate of one thread in the same round.
  func threads() throws {
    let order = Orders.random(data, distinct: data.count)
    var counts: [String: Int] = [:]
    try measure("two threads, times the rate of one", unit: .factor, rounds: settings.rounds) {
      contender, round in
      let data = data
      let peer = contender.peer
      func rate(_ threads: Int, _ count: Int) throws -> Double {
        let time = try onThreads(threads, prepare: { _ in try peer.session() }) { thread, session in
          let piece = Orders.piece(of: order, round: round + 17 * thread, count: count)
          guard try session.read(piece) == data.expected(piece) else {
            throw Failure("read other bytes")
          }
        }
        return Double(threads * count) / time
      }
      let count = try counts[contender.kind.id] ?? Int(settings.roundTime * (try rate(1, 1000)))
      counts[contender.kind.id] = count
      let one = try rate(1, count)
      return try rate(2, count) / one
    }
  }

  /// Random hits by two processes. The result is their rate divided by the rate of one process.
  func processes() throws {
    let order = Orders.random(data, distinct: data.count)
    var helpers: [String: ChildProcess] = [:]
    var counts: [String: Int] = [:]
    defer { for helper in helpers.values { helper.stop() } }
    try measure("two processes, times the rate of one", unit: .factor, rounds: settings.rounds) {
      contender, round in
      guard contender.kind.isShared else { throw Unsupported("one process at a time") }
      let id = contender.kind.id
      let helper = try helpers[id] ?? ReaderCommand.start(contender)
      helpers[id] = helper
      func read(_ count: Int) throws -> Double {
        let piece = Orders.piece(of: order, round: round, count: count)
        var tally = Tally()
        let time = try contender.time { tally = try $0.read(piece) }
        guard tally == data.expected(piece) else { throw Failure("read other bytes") }
        return time
      }
      let count = try counts[id] ?? Int(1000 * settings.roundTime / (try read(1000)))
      counts[id] = count
      let alone = try read(count)
      try helper.send("\(round + 17) \(count)")
      let mine = try read(count)
      guard let theirs = Double(try helper.receive()) else { throw Failure("a helper failed") }
      return 2 * alone / max(mine, theirs)
    }
  }
}
