public import Larder
import LarderSystem
import Synchronization

/// The log of changes, which is a stream of the server.
extension StreamTier {
  public func newestRecord() async throws(LarderError) -> LogRecord {
    let reply = try await run(.newest, [names.log, names.head], [], isLogged: true)
    guard let record = LogRecord(reply, ofAnyKind: true) else {
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
    return (parts[0].bytes.flatMap { Position(head: $0) }, LogRecord(parts[1], ofAnyKind: true))
  }

  public func records(
    after position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord] {
    let (most, begun) = (replySize.records, clock.monotonic)
    var words = ["XREAD", "COUNT", "\(most)"]
    if waiting > .zero { words += ["BLOCK", "\(waiting.frameMilliseconds)"] }
    words.append("STREAMS")
    let command = Command(
      words.map { Array($0.utf8) } + [names.log, Array(position.description.utf8)],
      timeout: waiting + options.writeTimeout, blocks: waiting > .zero)
    let reply: Reply
    do throws(LarderError) { reply = try await sender.send(command) } catch {
      if error.code == .unanswered { replySize.halve() }
      throw error
    }
    guard let list = reply == .null ? [] : reply.list(of: 1)?[0].list(of: 2)?[1].list else {
      throw LarderError(unexpected: reply, to: "XREAD", mayHaveChanged: false)
    }
    if list.isEmpty {
      // If an empty reply came early, the reader would ask without a pause. So this call waits for the rest of the time. An
      // error is ignored, because the reader itself tests whether its task was cancelled.
      try? await clock.sleep(until: begun + waiting)
    }
    replySize.grow(after: list.count, of: most)
    var records: [LogRecord] = []
    for element in list {
      guard let record = LogRecord(element) else {
        // The element is of a later version or of another program. The record made here does not follow the reader's last record,
        // so the reader begins again after the element.
        records.append(LogRecord(position: position, digest: 0, previous: nil, subject: .nothing))
        break
      }
      records.append(record)
    }
    return records
  }
}

/// The number of records of the log that one reply may have. Over a slow link, a reply with many long keys may take too long. So
/// a reply that does not arrive halves the number, and a full reply doubles the number.
final class ReplySize: Sendable {
  private static let most = 512
  private let count = Atomic(most)

  var records: Int { count.load(ordering: .relaxed) }

  func halve() { count.store(max(records / 2, 1), ordering: .relaxed) }

  func grow(after received: Int, of asked: Int) {
    if received >= asked { count.store(min(2 * asked, Self.most), ordering: .relaxed) }
  }
}
