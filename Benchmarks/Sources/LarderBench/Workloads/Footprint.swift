import Foundation

extension Bench {
  /// The time to open a store and to read one entry.
  func opening() throws {
    let order = Orders.random(data, distinct: data.count)
    try measure("open and read one", rounds: settings.rounds) { contender, round in
      if contender.kind.readLevel == .memory {
        throw Unsupported("forgets everything when it closes")
      }
      if contender.peer.server != nil { throw Unsupported("is a process of its own") }
      try contender.close()
      return try nanoseconds {
        try contender.open()
        let one = order[round..<round + 1]
        guard try contender.session.read(one) == data.expected(one) else {
          throw Failure("read other bytes")
        }
      }
    }
  }

  /// The bytes on the disk, divided by the number of entries of the filled store.
  func space() throws {
    try measure("bytes on disk, per entry", unit: .bytes, rounds: 1) { contender, _ in
      if contender.kind.readLevel == .memory { throw Unsupported("writes no file") }
      contender.settle()
      return Double(contender.site.bytesOnDisk) / Double(data.count)
    }
  }

  /// The bytes of memory after the store was opened and entries were read.
  func memory() throws {
    try measure(
      [
        ("own memory after 100,000 random hits", .bytes),
        ("mapped file pages after the same", .bytes),
      ],
      rounds: 1
    ) { contender, _ in
      guard let weight = try weight(of: contender) else { throw Unsupported("Linux alone tells") }
      return [Double(weight.own), Double(weight.mapped)]
    }
  }

  /// The memory of a new process that has opened the store and read from it. For a peer with a server, the memory of the server.
  private func weight(of contender: Contender) throws -> (own: Int, mapped: Int)? {
    if let server = contender.peer.server { return ProcessFigures.memory(of: server) }
    if ProcessFigures.memory(of: getpid()) == nil { return nil }
    try contender.close()
    let helper = try ReaderCommand.start(contender, weighs: true)
    let numbers = try helper.receive().split(separator: " ").compactMap { Int($0) }
    helper.stop()
    try contender.open()
    if contender.kind.readLevel == .memory { try contender.fill(0..<UInt32(data.count)) }
    return (numbers[0], numbers[1])
  }
}
