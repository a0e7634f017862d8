import Synchronization

/// Connections to the origin that wait for another request, at most 32. The connection that was used last is used first.
///
/// These connections carry only GET and HEAD without a body, and wait only after a whole response with a stated length. A
/// connection that ends or sends bytes while it waits is closed, because bytes before a request are no answer to it.
final class IdleConnections: Sendable {
  private static let most = 32
  private let connections = Mutex<[Connection]>([])

  deinit {
    for connection in connections.withLock({ $0 }) { connection.close() }
  }

  /// A connection that has sent nothing after its last response; nil if there is no such connection.
  func take() async -> Connection? {
    while let connection = connections.withLock({ $0.popLast() }) {
      if await connection.endWait() { return connection }
      connection.close()
    }
    return nil
  }

  /// Keeps a connection after the end of its last response.
  func keep(_ connection: Connection) async {
    guard await connection.beginWait() else { return connection.close() }
    let surplus = connections.withLock { connections in
      connections.append(connection)
      return connections.count > Self.most ? connections.removeFirst() : nil
    }
    surplus?.close()
  }
}
