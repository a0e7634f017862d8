import Foundation

extension Bench {
  /// Loads all entries into an empty store as fast as the peer can, and then removes all of them in one operation.
  ///
  /// Peers with a B-tree sort the keys first and use long transactions. The time of sorting is a part of the result.
  func loading() throws {
    let order = Orders.once(0..<UInt32(data.count))
    try measure(
      [("bulk load, per entry", .nanoseconds), ("clear", .nanoseconds)], rounds: settings.longRounds
    ) { contender, _ in
      if contender.site.level == .durable, !contender.kind.hasBatches {
        throw Unsupported("has no transactions: a batch is as many single writes")
      }
      defer { contender.settle() }
      try contender.startOver()
      let time = try load(order, into: contender)
      try verify(contender)
      return [time / Double(data.count), try clear(contender)]
    }
  }

  private func load(_ order: [UInt32], into contender: Contender) throws -> Double {
    var order = order
    let most = max(1, (16 << 20) / data.entrySize)
    let batch = contender.kind.loadsSorted ? min(50_000, most) : min(Self.batch, most)
    var time = 0.0
    if contender.kind.loadsSorted {
      time += settings.clock.time { order = data.sortedByKey(order) }
    }
    for start in stride(from: 0, to: order.count, by: batch) {
      let piece = order[start..<min(start + batch, order.count)]
      time += try contender.timeWrite(on: settings.clock, piece)
    }
    return time
  }

  private func clear(_ contender: Contender) throws -> Double {
    let time = try nanoseconds { try contender.peer.clear() }
    let order = Orders.random(data, distinct: data.count, length: 100)
    guard try contender.session.read(order[...]) == Tally() else { throw Failure("kept entries") }
    return time
  }
}

extension Dataset {
  /// Sorts the indices by key. Compares the first eight bytes as a number, and the rest only if these numbers are equal.
  func sortedByKey(_ order: [UInt32]) -> [UInt32] {
    var pairs = order.map { index in
      var first: UInt64 = 0
      for byte in keys[Int(index)].utf8.prefix(8) { first = first << 8 | UInt64(byte) }
      return (first, index)
    }
    pairs.sort { left, right in
      left.0 == right.0 ? keys[Int(left.1)] < keys[Int(right.1)] : left.0 < right.0
    }
    return pairs.map(\.1)
  }
}
