public import Larder

/// The log of changes, a stream.
extension StreamTier {
  private static let mostRecords = 500

  public func newestRecord() async throws(LarderError) -> LogRecord {
    let reply = try await run(.newest, [names.log, names.head], [], isLogged: true)
    guard let record = LogRecord(reply) else {
      throw LarderError(unexpected: reply, to: "the log", mayHaveChanged: false)
    }
    return record
  }

  public func look(
    at position: Position
  ) async throws(LarderError) -> (head: Position?, record: LogRecord?) {
    let id = Array(position.description.utf8)
    let reply = try await run(.look, [names.log, names.head, names.nothing], [id])
    guard let parts = reply.list(of: 2) else {
      throw LarderError(unexpected: reply, to: "look", mayHaveChanged: false)
    }
    return (parts[0].bytes.flatMap { Position(id: $0) }, LogRecord(parts[1]))
  }

  public func records(
    from position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord] {
    let id = Array(position.description.utf8)
    if waiting > .zero {
      // It only waits: what it returns begins after the position.
      let words = ["XREAD", "COUNT", "1", "BLOCK", "\(waiting.wholeMilliseconds)", "STREAMS"]
      let command = Command(
        words.map { Array($0.utf8) } + [names.log, id], timeout: waiting + options.writeTimeout,
        blocks: true)
      switch try await sender.send(command) {
      case .null: return []
      case .list: break
      case let reply:
        throw LarderError(unexpected: reply, to: "XREAD", mayHaveChanged: false)
      }
    }
    let words = [Array("XRANGE".utf8), names.log, id]
    let reply = try await sender.send(
      Command(
        words + ["+", "COUNT", "\(Self.mostRecords)"].map { Array($0.utf8) },
        timeout: options.writeTimeout))
    guard let list = reply.list else {
      throw LarderError(unexpected: reply, to: "XRANGE", mayHaveChanged: false)
    }
    var records: [LogRecord] = []
    for element in list {
      guard let record = LogRecord(element) else {
        throw LarderError(unexpected: element, to: "XRANGE", mayHaveChanged: false)
      }
      records.append(record)
    }
    return records
  }
}
