import Synchronization

/// Connections to the origin that wait for another request, at most 32, the last one used first.
///
/// Only GET and HEAD without a body go over them, and only after the whole of a response with a stated length. A connection
/// that ends or that sends anything while it waits is closed: bytes that come before their request answer none.
final class IdleConnections: Sendable {
  private static let most = 32
  private let connections = Mutex<[Connection]>([])

  deinit {
    for connection in connections.withLock({ $0 }) { connection.close() }
  }

  /// A connection that was silent since its last response; nil without one.
  func take() async -> Connection? {
    while let connection = connections.withLock({ $0.popLast() }) {
      if await connection.endWait() { return connection }
      connection.close()
    }
    return nil
  }

  /// Keeps a connection, whose last response has been read to its end.
  func keep(_ connection: Connection) async {
    guard await connection.beginWait() else { return connection.close() }
    let surplus = connections.withLock { connections in
      connections.append(connection)
      return connections.count > Self.most ? connections.removeFirst() : nil
    }
    surplus?.close()
  }
}
