#if HTTP
  import Larder

  /// The body of a response on its way to two readers: the client, which has its own speed, and the store, which does not wait.
  ///
  /// Both readers share the bytes, and a ``BufferBudget`` limits the memory for them. Each full part of a long body is stored
  /// as soon as possible, and a client that is slower than the origin reads the part from the store. A body is not stored if it
  /// is too long or no memory is left in the budget. A body that is not stored arrives no faster than the client reads.
  actor IncomingBody {
    /// The largest piece that the client gets.
    static let pieceSize = 1 << 16

    private let budget: BufferBudget
    private let largest: Int
    /// The announced length of the body.
    private let length: Int?
    private let makeWriter: (@Sendable () throws -> BodyWriter)?
    private let report: @Sendable (any Error) -> Void
    private let onPassing: @Sendable () -> Void
    /// The writer of the parts; nil before the first part is stored.
    private var writer: BodyWriter?
    private var partCount = 0
    /// The bytes of the body that begin at the offset `start`. The bytes before `start` are stored, or were read.
    private var bytes: [UInt8] = []
    private var start = 0
    /// The offset in the body up to which the client has read.
    private var position = 0
    /// The offset in the body up to which the client may read.
    private var visible = 0
    private var reserved: Int
    private var isKept = true
    private var isEnded = false
    private var failure: (any Error)?
    /// The rest of the body, which is read from the store.
    private var rest: HTTPBody?
    private var readers: [CheckedContinuation<Void, Never>] = []
    private var origin: CheckedContinuation<Void, Never>?
    private var isAbandoned = false

    /// - Parameters:
    ///   - reserved: the number of bytes that the caller has reserved in `budget` for this body.
    ///   - largest: the largest length of a body that is kept for the store.
    ///   - writer: makes the writer of a long body; nil for a body that must be in memory as a whole.
    ///   - report: receives the errors of storing parts.
    ///   - onPassing: called when the store stops keeping the body before its end. After this call the body comes no faster
    ///     than the client reads.
    init(
      length: Int?, reserved: Int, in budget: BufferBudget, largest: Int,
      writer: (@Sendable () throws -> BodyWriter)?, report: @escaping @Sendable (any Error) -> Void,
      onPassing: @escaping @Sendable () -> Void
    ) {
      self.budget = budget
      self.length = length
      self.reserved = reserved
      self.largest = largest
      makeWriter = writer
      self.report = report
      self.onPassing = onPassing
      bytes.reserveCapacity(reserved)
    }

    deinit { budget.release(reserved) }

    private var end: Int { start + bytes.count }

    /// Adds a piece from the origin. If the body is not kept for the store, waits until the client has read the piece.
    ///
    /// While the body is kept, the client gets the piece that completes the announced length only after ``finish(_:rest:)``. So
    /// the response is stored before the client sends its next request.
    ///
    /// - Returns: whether the client or the store needs more bytes.
    func append(_ piece: [UInt8]) async -> Bool {
      if isKept, !makeRoom(for: piece.count) { await stopKeeping() }
      if !isKept, isAbandoned { return false }
      bytes += piece
      if !isKept || end != length { visible = end }
      wakeReaders()
      if isKept { await storeFullParts() }
      if isKept { return true }
      discardRead()
      while !bytes.isEmpty, position < end, !isAbandoned {
        await withCheckedContinuation { origin = $0 }
      }
      return !isAbandoned
    }

    private func makeRoom(for count: Int) -> Bool {
      let more = bytes.count + count - reserved
      guard end + count <= writer?.largest ?? largest, more <= 0 || budget.reserve(more) else {
        return false
      }
      reserved += max(0, more)
      return true
    }

    /// The whole body for the store; nil if the body was not kept for the store.
    var received: ReceivedBody? {
      guard isKept else { return nil }
      return writer.map { .written($0, last: bytes, index: partCount) } ?? .whole(bytes)
    }

    /// Ends the body. If the body is stored, `rest` returns the part of the stored body that begins at the given offset.
    func finish(_ failure: (any Error)? = nil, rest: ((Int) -> HTTPBody)? = nil) async {
      self.failure = failure
      visible = end
      isEnded = true
      isKept = false
      if let rest {
        writer = nil
        if position < start || end - position > Self.pieceSize {
          self.rest = rest(position)
          position = end
        }
      }
      discardRead()
      wakeReaders()
      await discardParts()
    }

    /// Removes read bytes of a body that is not kept, but only after most bytes were read: each removal moves the other bytes.
    private func discardRead() {
      guard !isKept else { return }
      if isAbandoned { position = end }
      let read = position - start
      guard read >= 0,
        read > bytes.count / 2 || read == bytes.count || isEnded && read >= reserved / 2
      else { return }
      bytes = Array(bytes.dropFirst(read))
      start = position
      let surplus = reserved - bytes.count
      if surplus > 0 {
        budget.release(surplus)
        reserved -= surplus
      }
    }

    func abandon() async {
      isAbandoned = true
      discardRead()
      wakeOrigin()
      await discardParts()
    }

    /// The next piece for the client; nil at the end.
    func next() async throws -> [UInt8]? {
      while position == visible, !isEnded {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
          await withCheckedContinuation { readers.append($0) }
        } onCancel: {
          Task { await wakeReaders() }
        }
      }
      if position < visible {
        let piece = try nextPiece()
        position += piece.count
        discardRead()
        if position == end { wakeOrigin() }
        if let writer, !isKept, position < start, position % writer.parts.size < piece.count {
          // No further part extends the lease. A failure is ignored: the client extends the lease again after the next part.
          try? await writer.renew()
        }
        if writer != nil { await discardParts() }
        return piece
      }
      if let rest {
        var iterator = rest.makeAsyncIterator()
        return try await iterator.next()
      }
      if let failure { throw failure }
      return nil
    }

    /// Goes back by the last `count` bytes that the client has read, so that the client reads these bytes again. Returns false
    /// if neither memory nor the store has the bytes any more.
    func rewind(_ count: Int) async -> Bool {
      if let rest { return await rest.rewindSource(count) }
      let earlier = position - count
      guard count >= 0, earlier >= start || writer != nil && earlier >= 0 else { return false }
      position = earlier
      return true
    }

    private func nextPiece() throws -> [UInt8] {
      guard position < start, let writer else {
        let count = min(Self.pieceSize, visible - position)
        return Array(bytes[position - start..<position - start + count])
      }
      let range = position..<min(position + Self.pieceSize, start, visible)
      guard let piece = try writer.piece(range, of: start) else { throw HTTPCacheError.bodyGone }
      return piece
    }

    private func wakeReaders() {
      for reader in readers { reader.resume() }
      readers = []
    }

    private func wakeOrigin() {
      origin?.resume()
      origin = nil
    }
  }

  extension IncomingBody {
    /// Stores the full parts, but not a part that may be the last: the last part is stored together with the response.
    private func storeFullParts() async {
      guard let makeWriter, bytes.count > writer?.parts.size ?? BodyParts.usualSize else { return }
      do {
        let writer = try self.writer ?? makeWriter()
        self.writer = writer
        let size = writer.parts.size
        while bytes.count > size {
          guard max(length ?? 0, end) <= writer.largest,
            try await writer.write(Array(bytes[..<size]), partCount)
          else { return await stopKeeping() }
          partCount += 1
          bytes.removeFirst(size)
          start += size
        }
      } catch {
        report(error)
        await stopKeeping()
      }
    }

    /// Stops storing the body. After this call only the client gets the rest of the body.
    private func stopKeeping() async {
      isKept = false
      visible = end
      onPassing()
      wakeReaders()
      await discardParts()
    }

    /// Removes the parts of a body that is not stored, as soon as the client needs none of the parts.
    private func discardParts() async {
      guard !isKept, let discarded = writer, isAbandoned || position >= start else { return }
      writer = nil
      do { try await discarded.discard() } catch { report(error) }
    }
  }
#endif
