#if HTTP
  import Larder

  /// The body of a stored response, for readers of any speed.
  struct StoredBody: Sendable {
    let key: String
    /// The version of the entry when the body was found; nil right after the body was stored.
    let version: UInt64?
    let response: StoredResponse

    var count: Int { response.bodySize }
    var parts: BodyParts? { response.parts }

    /// Whether `entry` is the response with this body.
    func isStored(in entry: Store.Entry) -> Bool {
      if entry.version == version { return true }
      // A validation writes the entry again, but keeps the body and its id, so an equal id means the same body.
      guard let id = response.bodyID, let present = StoredResponse(entry) else { return false }
      return present.bodyID == id && present.bodySize == count
    }
  }

  extension Store.Namespace {
    /// The bytes `range` of a stored body; nil if the body was replaced, evicted or damaged.
    ///
    /// - Parameter role: whether the piece is the first, which counts as a read of the response. If the response is replaced
    ///   while a client reads the parts of its body, the parts stay readable for a while.
    func piece(of body: StoredBody, _ range: Range<Int>, as role: PieceRole) throws -> [UInt8]? {
      guard let parts = body.parts else {
        return try piece(of: body.key, range, as: role, if: body.isStored)
      }
      if role == .first, try piece(of: body.key, 0..<0, as: .first, if: body.isStored) == nil {
        return nil
      }
      return try piece(of: parts, range, count: body.count, as: role)
    }

    /// The bytes `range` of a body in parts, which has `count` bytes; nil if a part is gone or damaged.
    func piece(
      of parts: BodyParts, _ range: Range<Int>, count: Int, as role: PieceRole
    ) throws -> [UInt8]? {
      if role == .first, try piece(of: parts.root, 0..<0, as: .part, if: { _ in true }) == nil {
        return nil
      }
      var bytes: [UInt8] = []
      var position = range.lowerBound
      while position < range.upperBound {
        let (index, offset) = position.quotientAndRemainder(dividingBy: parts.size)
        let length = parts.length(of: index, in: count)
        let end = min(length, offset + range.upperBound - position)
        let piece = try piece(
          of: parts.key(index), offset..<end, as: role == .first || offset == 0 ? .part : .next,
          if: { $0.size == length })
        guard let piece, piece.count == end - offset else { return nil }
        if piece.count == range.count { return piece }
        bytes += piece
        position += piece.count
      }
      return bytes
    }
  }

  extension CacheAnswer {
    /// The stored response that gives the answer its body, and the range of bytes; nil if the answer has no stored body.
    func slice(of held: [StoredVariant]) -> (index: Int, range: Range<Int>)? {
      switch body {
      case .none, .joined: nil
      case .stored(let index): (index, 0..<held[index].response.bodySize)
      case .part(let index, let range):
        (index, range.clamped(to: 0..<held[index].response.bodySize))
      }
    }
  }

  extension ResponseStore {
    /// The body of an answer; nil if the stored body's entry was replaced, evicted or damaged. The call counts as a read.
    func body(of answer: CacheAnswer, from held: [StoredVariant]) throws -> HTTPBody? {
      guard let (index, range) = answer.slice(of: held) else { return HTTPBody() }
      let body = held[index].body
      let end = min(range.upperBound, range.lowerBound + IncomingBody.pieceSize)
      return try namespace.piece(of: body, range.lowerBound..<end, as: .first).map {
        stream(body, range, first: $0)
      }
    }

    /// The bytes `range` of a stored body, piece by piece, each in a snapshot of its own. If the store has removed the body,
    /// reading throws ``HTTPCacheError/bodyGone``. `first` is the first piece, if it has been read.
    func stream(_ body: StoredBody, _ range: Range<Int>, first: [UInt8]? = nil) -> HTTPBody {
      let whole = first?.count == range.count ? first : nil
      let reader = StoredBodyReader(
        body, range, first: whole == nil ? first : nil, at: whole == nil ? 0 : range.count,
        in: namespace)
      return HTTPBody(
        whole, count: range.count, rewind: { await reader.rewind($0) },
        next: { try await reader.next() })
    }
  }

  private actor StoredBodyReader {
    /// The longest time for which a reader keeps the entries of a replaced body.
    private static let longestUse = Duration.seconds(3600)

    private let body: StoredBody
    private let namespace: Store.Namespace
    private var first: [UInt8]?
    private let start: Int
    private var position: Int
    private let end: Int
    private let began: Duration
    private var renewed: Duration

    /// - Parameter offset: the number of bytes that have been read.
    init(
      _ body: StoredBody, _ range: Range<Int>, first: [UInt8]?, at offset: Int,
      in namespace: Store.Namespace
    ) {
      self.body = body
      self.namespace = namespace
      self.first = first
      start = range.lowerBound
      position = start + offset
      end = range.upperBound
      began = namespace.store.clock.monotonic
      renewed = began
    }

    func next() async throws -> [UInt8]? {
      guard position < end else { return nil }
      if let first {
        self.first = nil
        position += first.count
        return first
      }
      let range = position..<min(end, position + IncomingBody.pieceSize)
      guard let piece = try namespace.piece(of: body, range, as: .next), !piece.isEmpty else {
        // A part of the body is missing, so the useless rest is removed. A failure changes nothing for the client.
        if let parts = body.parts, !namespace.store.isReadOnly {
          _ = try? await namespace.remove(parts.root)
        }
        throw HTTPCacheError.bodyGone
      }
      position += piece.count
      if let parts = body.parts { await renew(parts) }
      return piece
    }

    /// Goes back by the last `count` bytes that were read, to read them again. Returns false if fewer bytes were read.
    func rewind(_ count: Int) -> Bool {
      guard 0...(position - start) ~= count else { return false }
      position -= count
      return true
    }

    /// Extends the lifetime of the entries of a body that was replaced, or whose response has expired.
    ///
    /// A read looks at the end of the lifetime only if the last look is more than a minute old. So after each read at least two
    /// minutes are left, for which the client may pause.
    ///
    /// A failure is ignored, for example of a busy store: the piece has been read, and a later read extends the lifetime again.
    private func renew(_ parts: BodyParts) async {
      let now = namespace.store.clock.monotonic
      guard now - renewed > BodyParts.grace / 4, now - began < Self.longestUse,
        !namespace.store.isReadOnly
      else { return }
      renewed = now
      guard let end = try? namespace.entry(for: parts.root)?.expires,
        end < namespace.store.clock.now.advanced(by: BodyParts.grace / 4 * 3)
      else { return }
      _ = try? await namespace.touch(parts.root, expires: .after(BodyParts.grace))
    }
  }
#endif
