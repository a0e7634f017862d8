import Larder
import Synchronization

/// The body of a response as a stream; it can be read once.
public struct HTTPBody: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  public typealias Failure = any Error

  /// The whole body, if it is in memory.
  public let whole: [UInt8]?
  private let read: @Sendable () async throws -> [UInt8]?

  /// A body in memory.
  public init(_ bytes: [UInt8] = []) {
    whole = bytes
    read = { nil }
  }

  /// A body whose next piece `next` waits for; nil at its end. It is asked for one piece at a time, nothing is read
  /// ahead, and its task may be cancelled while it waits.
  public init(next: @escaping @Sendable () async throws -> [UInt8]?) {
    whole = nil
    read = next
  }

  public func makeAsyncIterator() -> Iterator { Iterator(body: self) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: HTTPBody
    private var isGiven = false

    fileprivate init(body: HTTPBody) { self.body = body }

    public mutating func next() async throws -> [UInt8]? {
      guard let whole = body.whole else { return try await body.read() }
      defer { isGiven = true }
      return isGiven || whole.isEmpty ? nil : whole
    }
  }

  /// The whole body in one array.
  public func bytes() async throws -> [UInt8] {
    if let whole { return whole }
    var bytes: [UInt8] = []
    for try await piece in self { bytes += piece }
    return bytes
  }
}

extension HTTPBody {
  /// The same, but reading fails where nothing comes for longer than `limit`. The time between two reads does not count.
  func limited(to limit: Duration, by clock: any LarderClock) -> HTTPBody {
    guard whole == nil else { return self }
    return HTTPBody(next: { [read] in try await within(limit, by: clock, read) })
  }

  /// The same, once its first piece has come.
  func begun() async throws -> HTTPBody {
    guard whole == nil else { return self }
    guard let first = try await read() else { return HTTPBody(next: { nil }) }
    let begin = Beginning(first)
    return HTTPBody(next: { [read] in
      if let first = begin.take() { return first }
      return try await read()
    })
  }

  private final class Beginning: Sendable {
    private let piece: Mutex<[UInt8]?>

    init(_ piece: [UInt8]) { self.piece = Mutex(piece) }

    func take() -> [UInt8]? {
      piece.withLock { piece in
        defer { piece = nil }
        return piece
      }
    }
  }
}
