import NIOCore
import Synchronization

/// The bytes of bodies that a proxy holds for slow readers, all connections together, and the limit on them.
///
/// A connection may always hold a small piece, which is not counted: so a crowd of slow readers keeps no other client waiting.
/// Larger pieces share the rest. If it is used up, stored bodies are read from the store again, and others are received in small
/// pieces.
final class HeldBytes: Sendable {
  /// What each connection may hold of a message, whatever the others hold.
  let smallPiece: Int
  /// The limit on large pieces, all together.
  let limit: Int
  private let held = Atomic(0)

  static let largestPiece = 1 << 16
  /// Pieces that may be read at the same moment, before any of them counts: one for each event loop.
  private static let simultaneous = 8

  /// - Parameters:
  ///   - total: the limit on everything that is held, small pieces too.
  ///   - connections: how many clients there may be; each may have a connection to the origin.
  init(total: Int, connections: Int) {
    // A request, its answer, and what comes for it from the origin.
    smallPiece = max(256, min(4096, total / (12 * connections)))
    let always = 3 * connections * smallPiece + Self.simultaneous * Self.largestPiece
    limit = max(0, total - always)
  }

  convenience init(_ limits: ProxyLimits) {
    self.init(
      total: limits.buffered,
      connections: max(1, min(limits.connections, ProxyLimits.mostConnections)))
  }

  /// The bytes that are held now.
  var count: Int { held.load(ordering: .relaxed) }

  /// Whether another large piece has room.
  var hasRoom: Bool { count + Self.largestPiece <= limit }

  /// Counts `count` bytes if there is room for them.
  func reserve(_ count: Int) -> Bool {
    let before = held.wrappingAdd(count, ordering: .relaxed).oldValue
    if before + count <= limit { return true }
    release(count)
    return false
  }

  /// Counts bytes that are held in any case: a small piece, or one that was received while there was room.
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
