import NIOCore
import Synchronization

/// The bytes of bodies that a proxy holds for slow readers on all connections, and their limit.
///
/// Each connection may always hold a small piece, which does not count, so many slow readers keep no other client waiting.
/// Larger pieces share the rest of the limit. If the rest is used up, stored bodies are read from the store again later, and
/// other bodies are received in small pieces.
final class HeldBytes: Sendable {
  /// The bytes of a message that each connection may hold, whatever other connections hold.
  let smallPiece: Int
  /// The limit on all large pieces together.
  let limit: Int
  private let held = Atomic(0)

  static let largestPiece = 1 << 16
  /// The number of pieces that may be read at the same time, before their bytes are counted: one for each event loop.
  private static let simultaneous = 8

  /// - Parameters:
  ///   - total: the limit on all held bytes, small pieces included.
  ///   - connections: the largest number of clients; each may have a connection to the origin.
  init(total: Int, connections: Int) {
    // Each client needs three small pieces: for a request, for its answer, and for the bytes that the origin sends.
    smallPiece = max(256, min(4096, total / (12 * connections)))
    let always = 3 * connections * smallPiece + Self.simultaneous * Self.largestPiece
    limit = max(0, total - always)
  }

  convenience init(_ limits: ProxyLimits) {
    self.init(
      total: limits.buffered,
      connections: max(1, min(limits.connections, ProxyLimits.mostConnections)))
  }

  /// The number of bytes that are held now.
  var count: Int { held.load(ordering: .relaxed) }

  /// Whether there is room for another large piece.
  var hasRoom: Bool { count + Self.largestPiece <= limit }

  /// Counts `count` bytes if there is room for them. Returns whether there is room.
  func reserve(_ count: Int) -> Bool {
    let before = held.wrappingAdd(count, ordering: .relaxed).oldValue
    if before + count <= limit { return true }
    release(count)
    return false
  }

  /// Counts bytes that are held in any case: a small piece, or a piece that was received while there was room.
  func add(_ count: Int) { held.wrappingAdd(count, ordering: .relaxed) }

  func release(_ count: Int) { held.wrappingSubtract(count, ordering: .relaxed) }
}

/// Receives in small pieces while too much is held.
struct ReceiveBuffers: RecvByteBufferAllocator {
  private var usual = AdaptiveRecvByteBufferAllocator()
  private let held: HeldBytes

  init(_ held: HeldBytes) { self.held = held }

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    allocator.buffer(capacity: size(usual.nextBufferSize() ?? HeldBytes.largestPiece))
  }

  func nextBufferSize() -> Int? { usual.nextBufferSize().map(size) }

  mutating func record(actualReadBytes: Int) -> Bool {
    usual.record(actualReadBytes: actualReadBytes)
  }

  private func size(_ usual: Int) -> Int { held.hasRoom ? usual : min(usual, held.smallPiece) }
}
