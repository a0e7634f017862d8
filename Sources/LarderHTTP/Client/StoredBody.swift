import Larder

/// The body of one stored response, for readers of any speed.
struct StoredBody: Sendable {
  let key: String
  /// The version of the entry when it was found; nil right after it was stored.
  let version: UInt64?
  /// ``StoredResponse/bodyID``: a validation writes the entry again, with the same body.
  let id: UInt64?
  let count: Int

  func isStored(in entry: Store.Entry) -> Bool {
    guard entry.size == count else { return false }
    if entry.version == version { return true }
    guard let id, let metadata = entry.metadata else { return false }
    return StoredResponse(metadata: metadata, bodySize: entry.size)?.bodyID == id
  }
}

extension HTTPCache {
  /// The body of an answer; nil if the stored body is gone, and its key is then added to `lost`.
  func body(
    of answer: CacheAnswer, from held: [StoredVariant], lost: inout Set<String>
  ) throws -> HTTPBody? {
    switch answer.body {
    case .none, .joined: HTTPBody()
    case .stored(let index):
      try body(of: held[index], 0..<held[index].response.bodySize, lost: &lost)
    case .part(let index, let range): try body(of: held[index], range, lost: &lost)
    }
  }

  /// A part of the body of that version; nil if the entry was replaced, evicted or damaged.
  private func body(
    of held: StoredVariant, _ range: Range<Int>, lost: inout Set<String>
  ) throws -> HTTPBody? {
    let body = held.body
    let range = range.clamped(to: 0..<body.count)
    let end = min(range.upperBound, range.lowerBound + IncomingBody.pieceSize)
    guard
      let first = try namespace.piece(
        of: held.key, range.lowerBound..<end, isFirst: true, if: body.isStored)
    else {
      // A replaced entry is read again under its new version; a damaged one never.
      if try namespace.entry(for: held.key)?.version == held.version { lost.insert(held.key) }
      return nil
    }
    return end == range.upperBound
      ? HTTPBody(first) : rest(of: body, range, first: first)
  }

  /// The bytes `range` of a stored body, piece by piece, each in a snapshot of its own.
  ///
  /// Reading throws ``HTTPCacheError/bodyGone`` once the body is replaced or removed.
  ///
  /// - Parameter first: the first piece, if it has been read.
  func rest(of body: StoredBody, _ range: Range<Int>, first: [UInt8]? = nil) -> HTTPBody {
    let reader = StoredBodyReader(body, range, first: first, in: namespace)
    return HTTPBody(count: range.count, next: { try await reader.next() })
  }

  /// The whole body of that version; nil if the entry was replaced, evicted or damaged.
  func bytes(of held: StoredVariant, lost: inout Set<String>) throws -> [UInt8]? {
    let body = held.body
    if let bytes = try namespace.piece(
      of: held.key, 0..<body.count, isFirst: true, if: body.isStored)
    {
      return bytes
    }
    if try namespace.entry(for: held.key)?.version == held.version { lost.insert(held.key) }
    return nil
  }
}

extension HTTPCache.StoredVariant {
  var body: StoredBody {
    StoredBody(key: key, version: version, id: response.bodyID, count: response.bodySize)
  }
}

private actor StoredBodyReader {
  private let body: StoredBody
  private let namespace: Store.Namespace
  private var first: [UInt8]?
  private var position: Int
  private let end: Int

  init(_ body: StoredBody, _ range: Range<Int>, first: [UInt8]?, in namespace: Store.Namespace) {
    self.body = body
    self.namespace = namespace
    self.first = first
    position = range.lowerBound
    end = range.upperBound
  }

  func next() throws -> [UInt8]? {
    guard position < end else { return nil }
    if let first {
      self.first = nil
      position += first.count
      return first
    }
    let piece = try namespace.piece(
      of: body.key, position..<min(end, position + IncomingBody.pieceSize), isFirst: false,
      if: body.isStored)
    guard let piece, !piece.isEmpty else { throw HTTPCacheError.bodyGone }
    position += piece.count
    return piece
  }
}
