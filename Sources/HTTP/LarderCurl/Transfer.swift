#if Curl
  import Dispatch
  import HTTPTypes
  import LarderSystem
  import Synchronization

  /// The part of a response that has arrived and has not been read. The thread of the transfer adds to this part; tasks read it.
  final class Transfer: Sendable {
    enum Arrival: Sendable {
      case interim(HTTPResponse)
      case head(HTTPResponse)
      case piece([UInt8])
    }

    private struct State {
      var heads: [Arrival] = []
      var body: [UInt8] = []
      var result: Result<Void, any Error>?
      var isAbandoned = false
      /// Whether the thread waits for `room`. Each wait needs exactly one signal of `room`.
      var isFull = false

      var isReadable: Bool { !heads.isEmpty || !body.isEmpty || result != nil || isAbandoned }

      mutating func takeBody(_ room: DispatchSemaphore) -> [UInt8] {
        if isFull { room.signal() }
        isFull = false
        defer { body = [] }
        return body
      }
    }

    /// The thread waits for the reader while at least this number of bytes of the body is unread.
    private static let largestSize = 256 << 10

    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: 0)
    private let readers = Waiters<Void>()

    // MARK: - The thread of the transfer

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func receive(_ head: HTTPResponse, isFinal: Bool) {
      state.withLock { $0.heads.append(isFinal ? .head(head) : .interim(head)) }
      readers.resume()
    }

    /// Waits until fewer than ``largestSize`` bytes are unread, and takes the piece. Returns false if the transfer was abandoned.
    func receive(body piece: [UInt8]) -> Bool {
      while true {
        let isTaken = state.withLock { state -> Bool? in
          if state.isAbandoned { return false }
          state.isFull = state.body.count >= Self.largestSize
          if state.isFull { return nil }
          state.body += piece
          return true
        }
        if let isTaken {
          readers.resume()
          return isTaken
        }
        room.wait()
      }
    }

    func finish(_ result: Result<Void, any Error>) {
      state.withLock { $0.result = result }
      readers.resume()
    }

    // MARK: - Readers

    /// Waits for the next part; nil at the end. A cancelled reader abandons the transfer.
    func next() async throws -> Arrival? {
      while true {
        _ = await readers.wait(
          unless: { state.withLock { $0.isReadable ? () : nil } }, onCancel: { self.abandon() })
        let arrival = try state.withLock { state -> Arrival?? in
          guard !state.isAbandoned else { throw CancellationError() }
          if !state.heads.isEmpty { return state.heads.removeFirst() }
          if !state.body.isEmpty { return Arrival.piece(state.takeBody(room)) }
          // The thread woke this reader for a part that another call has already taken, so the reader waits again.
          guard let result = state.result else { return nil }
          try result.get()
          return .some(nil)
        }
        if let arrival { return arrival }
      }
    }

    func nextPiece() async throws -> [UInt8]? {
      guard case .piece(let bytes) = try await next() else { return nil }
      return bytes
    }

    /// Ends the transfer. If curl is waiting for the server, the transfer ends up to a second later.
    func abandon() {
      state.withLock { state in
        state.isAbandoned = true
        state.heads = []
        _ = state.takeBody(room)
      }
      readers.resume()
    }
  }
#endif
