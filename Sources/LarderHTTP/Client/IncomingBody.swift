/// The body of a response on its way to two readers: the client at its own speed, and the store without waiting for it.
///
/// The bytes are kept once, for both, within a ``BufferBudget``. After the response is stored, a client that lags behind
/// reads the rest from the store. A body that is not stored, because it is too long or the budget is used up, comes no
/// faster than the client reads.
actor IncomingBody {
  /// The length of the pieces for the client.
  static let pieceSize = 1 << 16

  private let budget: BufferBudget
  private let largest: Int
  /// The announced length of the body.
  private let length: Int?
  /// The bytes from `start` on.
  private var bytes: [UInt8] = []
  private var start = 0
  /// The end of the bytes that the client has read.
  private var position = 0
  /// The end of the bytes that it may read.
  private var visible = 0
  private var reserved: Int
  private var isKept = true
  private var isEnded = false
  private var failure: (any Error)?
  /// The rest of the body, from the store.
  private var rest: HTTPBody?
  private var reader: CheckedContinuation<Void, Never>?
  private var writer: CheckedContinuation<Void, Never>?
  /// Whether the client has stopped reading.
  private var isAbandoned = false

  /// - Parameters:
  ///   - reserved: bytes that were reserved in `budget` for this body.
  ///   - largest: the length up to which the body is kept for the store.
  init(length: Int?, reserved: Int, in budget: BufferBudget, largest: Int) {
    self.budget = budget
    self.length = length
    self.reserved = reserved
    self.largest = largest
    bytes.reserveCapacity(reserved)
  }

  deinit { budget.release(reserved) }

  private var end: Int { start + bytes.count }

  /// Adds a piece from the origin; of a body that is not kept, waits until the client has read it.
  ///
  /// The piece that completes the announced length is not visible before ``finish(_:rest:)``, so that the client's next
  /// request finds the stored response.
  ///
  /// - Returns: false if neither the client nor the store needs more.
  func append(_ piece: [UInt8]) async -> Bool {
    if isKept { isKept = makeRoom(for: piece.count) }
    if !isKept, isAbandoned { return false }
    bytes += piece
    if !isKept || end != length { visible = end }
    wakeReader()
    if isKept { return true }
    discardRead()
    while !bytes.isEmpty, position < end, !isAbandoned {
      await withCheckedContinuation { writer = $0 }
    }
    return !isAbandoned
  }

  private func makeRoom(for count: Int) -> Bool {
    let more = bytes.count + count - reserved
    guard end + count <= largest, more <= 0 || budget.reserve(more) else { return false }
    reserved += max(0, more)
    return true
  }

  /// The whole body for the store, once all of it has come; nil if it was not kept.
  var whole: [UInt8]? { isKept ? bytes : nil }

  /// Ends the body.
  ///
  /// - Parameter rest: reads the stored body from an offset on; nil if it is not stored.
  func finish(_ failure: (any Error)? = nil, rest: ((Int) -> HTTPBody)? = nil) {
    self.failure = failure
    visible = end
    isEnded = true
    isKept = false
    if let rest, end - position > Self.pieceSize {
      self.rest = rest(position)
      position = end
    }
    discardRead()
    wakeReader()
  }

  /// Removes what the client has read, or will not read; rarely, because that moves the rest.
  private func discardRead() {
    guard !isKept else { return }
    if isAbandoned { position = end }
    let read = position - start
    guard read > bytes.count / 2 || read == bytes.count || isEnded && read >= reserved / 2 else {
      return
    }
    bytes = Array(bytes.dropFirst(read))
    start = position
    let surplus = reserved - bytes.count
    if surplus > 0 {
      budget.release(surplus)
      reserved -= surplus
    }
  }

  /// The client reads no more.
  func abandon() {
    isAbandoned = true
    discardRead()
    writer?.resume()
    writer = nil
  }

  /// The next piece for the client; nil at the end.
  func next() async throws -> [UInt8]? {
    while position == visible, !isEnded {
      await withCheckedContinuation { reader = $0 }
    }
    if position < visible {
      let count = min(Self.pieceSize, visible - position)
      let piece = Array(bytes[position - start..<position - start + count])
      position += count
      discardRead()
      if position == end {
        writer?.resume()
        writer = nil
      }
      return piece
    }
    if let rest {
      var iterator = rest.makeAsyncIterator()
      return try await iterator.next()
    }
    if let failure { throw failure }
    return nil
  }

  private func wakeReader() {
    reader?.resume()
    reader = nil
  }
}

/// Abandons the body when the client releases it.
final class BodyReader: Sendable {
  let incoming: IncomingBody

  init(_ incoming: IncomingBody) { self.incoming = incoming }

  deinit {
    let incoming = incoming
    Task { await incoming.abandon() }
  }
}
