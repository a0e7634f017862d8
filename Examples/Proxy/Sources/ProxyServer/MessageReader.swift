import HTTPTypes
import NIOCore
import Synchronization

/// The fault of a message.
enum MessageError: Error, Equatable {
  case malformed(String)
  /// A head has more than 1,000 fields, or a head or the trailers of a body have 64 KB or more.
  case tooManyFields
  /// The first line alone exceeds the 64 KB of a head.
  case targetTooLong
  /// A body has a transfer coding in addition to chunks.
  case unknownCoding
  /// The major version of HTTP in a request is not 1.
  case unknownVersion
  /// The connection ended before the end of the message.
  case incomplete
  /// The client took too long.
  case timedOut
}

/// Reads HTTP/1 messages from a connection, one after the other, for one task at a time.
final class MessageReader: Sendable {
  private let connection: Connection
  /// The limits of a client; nil for an origin, whose time is limited elsewhere.
  private let limits: ProxyLimits?
  private let parser: Mutex<MessageParser>
  private let begun = Atomic(false)

  init(_ connection: Connection, limits: ProxyLimits? = nil) {
    self.connection = connection
    self.limits = limits
    parser = Mutex(MessageParser(isStrict: limits != nil))
  }

  /// Whether at least one byte has come.
  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  /// Whether no byte of the next head has come.
  var isIdle: Bool { parser.withLock { $0.isEmpty } }

  /// Whether the body has been read to its end.
  var isAtEnd: Bool { parser.withLock { $0.isAtEnd } }

  /// Begins a body with this framing, for ``piece()``.
  func begin(_ framing: Framing) { parser.withLock { $0.begin(framing) } }

  /// The next head; nil if the connection ends instead.
  ///
  /// - Parameters:
  ///   - isLenient: whether lines that are no fields are omitted, as for an origin.
  ///   - isFirst: whether the connection is new, so that the time limit is that of a head, not that of an idle connection.
  func head(isLenient: Bool, isFirst: Bool = false) async throws -> MessageHead? {
    defer { connection.deadline.clear(.send) }
    if let limits {
      connection.deadline.begin(isFirst ? limits.head : limits.idle)
      if isIdle, try await !readMore(isAtRequest: true) { return nil }
      connection.deadline.begin(limits.head)
    }
    while true {
      if let head = try parser.withLock({ try $0.head(isLenient: isLenient) }) { return head }
      if try await !readMore() {
        if isIdle { return nil }
        throw MessageError.incomplete
      }
    }
  }

  /// The next bytes of the body; nil at its end.
  func piece() async throws -> [UInt8]? {
    if let limits { connection.deadline.begin(limits.body) }
    defer { connection.deadline.clear(.send) }
    while true {
      if case .piece(let bytes) = try parser.withLock({ try $0.piece() }) { return bytes }
      if try await !readMore() {
        if parser.withLock({ $0.endsWithConnection }) { return nil }
        throw MessageError.incomplete
      }
    }
  }

  /// Reads more bytes. Returns false at the end of the connection.
  private func readMore(isAtRequest: Bool = false) async throws -> Bool {
    guard let bytes = try await connection.read(isAtRequest: isAtRequest) else { return false }
    begun.store(true, ordering: .relaxed)
    parser.withLock { $0.append(bytes) }
    return true
  }
}
