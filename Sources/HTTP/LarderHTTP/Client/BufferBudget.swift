#if HTTP
  import Larder
  import Synchronization

  /// The memory that a cache may use for all bodies on their way into the store.
  final class BufferBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    init(_ limit: Int) { self.limit = limit }

    /// Reserves `count` bytes; false if fewer bytes are left.
    func reserve(_ count: Int) -> Bool {
      used.withLock { used in
        guard count >= 0, count <= limit - used else { return false }
        used += count
        return true
      }
    }

    func release(_ count: Int) { used.withLock { $0 -= count } }

    var reserved: Int { used.withLock { $0 } }

    /// Reads the whole body and reserves its bytes; nil if the body is longer than `largest`, or if fewer bytes are left.
    func collect(_ body: HTTPBody, upTo largest: Int) async throws -> [UInt8]? {
      var bytes: [UInt8] = []
      do {
        for try await piece in body {
          guard bytes.count + piece.count <= largest, reserve(piece.count) else {
            release(bytes.count)
            return nil
          }
          bytes += piece
        }
      } catch {
        release(bytes.count)
        throw error
      }
      return bytes
    }
  }
#endif
