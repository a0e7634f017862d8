import Larder
import Synchronization

/// The server's clock as this process knows it. The age of a value does not depend on the wall clock of any machine.
///
/// A separate command asks for the time at the first use, and again when the answer is older than ``lifetime``. The error is at
/// most half of the command's round trip, plus the error of the machine's monotonic clock since the answer.
final class ServerClock: Sendable {
  static let lifetime = Duration.seconds(10)

  private let clock: any LarderClock
  private let sample = Mutex<(ahead: Duration, asked: Duration, wall: Timestamp)?>(nil)

  init(_ clock: any LarderClock) { self.clock = clock }

  /// The time of the server's clock in microseconds since 1970.
  func now(
    asking sender: any CommandSender, timeout: Duration
  ) async throws(LarderError) -> UInt64 {
    let (start, wall) = (clock.monotonic, clock.now)
    // While the machine is suspended, only the wall clock runs. So the sample is also too old if the wall clock is ahead.
    if let sample = sample.withLock({ $0 }), start - sample.asked < Self.lifetime,
      sample.wall.duration(to: wall) - (start - sample.asked) < .seconds(1)
    {
      return (start + sample.ahead).wholeMicroseconds
    }
    let reply = try await sender.send(Command([Array("TIME".utf8)], timeout: timeout))
    let end = clock.monotonic
    guard let parts = reply.list(of: 2), let seconds = Self.number(parts[0], below: 1 << 40),
      let micros = Self.number(parts[1], below: 1_000_000)
    else { throw LarderError(unexpected: reply, to: "TIME", mayHaveChanged: false) }
    let time = Duration.seconds(seconds) + .microseconds(micros)
    sample.withLock { $0 = (time - (start + (end - start) / 2), start, wall) }
    return time.wholeMicroseconds
  }

  private static func number(_ reply: Reply, below limit: Int64) -> Int64? {
    guard let bytes = reply.bytes, let text = String(validating: bytes, as: UTF8.self),
      let number = Int64(text), (0..<limit).contains(number)
    else { return nil }
    return number
  }
}

extension Duration {
  /// The duration in whole microseconds; zero for a negative duration.
  var wholeMicroseconds: UInt64 { UInt64(clamping: attoseconds / 1_000_000_000_000) }
}
