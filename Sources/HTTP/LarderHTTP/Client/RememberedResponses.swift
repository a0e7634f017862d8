#if HTTP
  import Larder
  import Synchronization

  /// The stored responses of the last requested URIs, in the state that a read of the store has found.
  ///
  /// Until a process writes to the store, a new read would find the same responses. Most reads of a busy cache are hits. A hit
  /// writes nothing, so the responses stay remembered.
  final class RememberedResponses: Sendable {
    private struct Found {
      /// The newest write that the read saw; see `EntryReader.moment`.
      var transaction: UInt64
      var variants: [StoredVariant]
      var size: Int
    }

    private struct State {
      var all: [String: Found] = [:]
      var size = 0
    }

    /// The largest size of all remembered heads, estimated in bytes.
    private static let largestSize = 1 << 20
    private let state = Mutex(State())

    /// The stored responses of a URI that a read of the store at `now` would find; nil if they are not known.
    func variants(of uri: String, transaction: UInt64, at now: Timestamp) -> [StoredVariant]? {
      let found = state.withLock { $0.all[uri] }
      guard let found, found.transaction == transaction,
        found.variants.allSatisfy({ $0.isThere(at: now) })
      else { return nil }
      return found.variants
    }

    /// - Parameter transaction: the newest write that the reads of all `variants` saw.
    func keep(_ variants: [StoredVariant], of uri: String, transaction: UInt64, size: Int) {
      guard size <= Self.largestSize / 16 else { return }
      state.withLock { state in
        if state.size + size > Self.largestSize { state = State() }
        state.size += size - (state.all[uri]?.size ?? 0)
        state.all[uri] = Found(transaction: transaction, variants: variants, size: size)
      }
    }
  }
#endif
