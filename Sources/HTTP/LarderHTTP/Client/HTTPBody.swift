#if HTTP
  import Larder
  import Synchronization

  /// The body of a request or a response as a stream. A body that is not in memory can be read only once.
  public struct HTTPBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = any Error

    /// The whole body, if it is in memory.
    public let whole: [UInt8]?
    /// The length of the body in bytes; nil if the length is unknown before the end.
    public let count: Int?
    private let read: @Sendable () async throws -> [UInt8]?
    /// Goes back by a number of bytes, so that the reader gets these bytes again. Returns false if the source has lost the bytes.
    let rewindSource: @Sendable (Int) async -> Bool

    /// A body in memory.
    public init(_ bytes: [UInt8] = []) {
      self.init(bytes, count: bytes.count, rewind: { _ in false }, next: { nil })
    }

    /// A body that is read piece by piece.
    ///
    /// - Parameters:
    ///   - count: the length in bytes, if it is known.
    ///   - next: waits for the next piece; nil at the end. Calls do not overlap, and each call comes only when the reader needs
    ///     a piece. The task of a call may be cancelled.
    public init(count: Int? = nil, next: @escaping @Sendable () async throws -> [UInt8]?) {
      self.init(nil, count: count, rewind: { _ in false }, next: next)
    }

    /// A body that another object holds, such as the store. If the body was already read, `whole` is the body; otherwise nil.
    init(
      _ whole: [UInt8]? = nil, count: Int?, rewind: @escaping @Sendable (Int) async -> Bool,
      next: @escaping @Sendable () async throws -> [UInt8]?
    ) {
      self.whole = whole
      self.count = count
      read = next
      rewindSource = rewind
    }

    /// Reads the pieces in order.
    public func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    /// Reads a body. Each iterator over a body in memory reads the whole body.
    public struct Iterator: AsyncIteratorProtocol {
      /// The body in memory; nil after ``next()`` has returned the body, so that the reader can free the memory.
      private var whole: [UInt8]?
      private let read: @Sendable () async throws -> [UInt8]?
      private let rewindSource: @Sendable (Int) async -> Bool

      fileprivate init(body: HTTPBody) {
        (whole, read, rewindSource) = (body.whole, body.read, body.rewindSource)
      }

      /// The next piece; nil at the end.
      public mutating func next() async throws -> [UInt8]? {
        guard let whole else { return try await read() }
        self.whole = nil
        return whole.isEmpty ? nil : whole
      }

      /// Goes back by the last `count` bytes of the last piece, so that ``next()`` returns these bytes again.
      ///
      /// With this method a server need not keep the bytes that a slow client has not taken: a stored body is read again from
      /// the store. If the source of the body no longer has the bytes, the result is false and nothing changes.
      public mutating func rewind(by count: Int) async -> Bool {
        whole == nil ? await rewindSource(count) : false
      }
    }

    /// The whole body in one array.
    ///
    /// - Parameter limit: the largest length.
    /// - Throws: ``HTTPCacheError/bodyTooLarge(limit:)`` for a longer body, and the errors of reading.
    public func bytes(upTo limit: Int = .max) async throws -> [UInt8] {
      if let whole, whole.count <= limit { return whole }
      guard count ?? 0 <= limit else { throw HTTPCacheError.bodyTooLarge(limit: limit) }
      var bytes: [UInt8] = []
      for try await piece in self {
        guard piece.count <= limit - bytes.count else {
          throw HTTPCacheError.bodyTooLarge(limit: limit)
        }
        bytes += piece
      }
      return bytes
    }
  }

  extension HTTPBody {
    /// The longest body of a request that a transport reads into memory.
    package static let largestUpload = 64_000_000

    /// This body with a limit for each read: a read that gets no piece within `limit` fails. Time between reads does not count.
    func limited(to limit: Duration, by clock: any LarderClock) -> HTTPBody {
      guard whole == nil else { return self }
      let watch = ReadLimit(limit, by: clock)
      return HTTPBody(count: count, next: { [read] in try await watch.run(read) })
    }

    func observed(by progress: UploadProgress) -> HTTPBody {
      guard whole == nil else { return self }
      return HTTPBody(count: count, next: { [read] in try await progress.run(read) })
    }

    /// This body, read into memory if it has at most `limit` bytes.
    func gathered(upTo limit: Int) async throws -> HTTPBody {
      guard whole == nil, count ?? 0 <= limit else { return self }
      var bytes: [UInt8] = []
      while bytes.count <= limit {
        guard let piece = try await read() else { return HTTPBody(bytes) }
        bytes += piece
      }
      return beginning(with: bytes)
    }

    /// Waits for the first piece. The returned body still has all pieces, including the first piece.
    func begun() async throws -> HTTPBody {
      guard whole == nil else { return self }
      guard let first = try await read() else { return HTTPBody(next: { nil }) }
      return beginning(with: first)
    }

    private func beginning(with first: [UInt8]) -> HTTPBody {
      let unread = Mutex<[UInt8]?>(first)
      return HTTPBody(
        count: count,
        next: { [read] in
          if let first = unread.withLock({ $0.take() }) { return first }
          return try await read()
        })
    }
  }

  /// A resource that ends when the last reference to this object is released, such as the source of a body.
  package final class EndedOnRelease<Resource: Sendable>: Sendable {
    package let resource: Resource
    private let end: @Sendable (Resource) -> Void

    package init(_ resource: Resource, end: @escaping @Sendable (Resource) -> Void) {
      self.resource = resource
      self.end = end
    }

    deinit { end(resource) }
  }

  /// The limit of the memory that a cache uses for all bodies that it is storing.
  final class BufferBudget: Sendable {
    private let limit: Int
    let used = Mutex(0)

    init(_ limit: Int) { self.limit = limit }

    /// Reserves `count` bytes. Returns false if fewer bytes are left.
    func reserve(_ count: Int) -> Bool {
      used.withLock { used in
        guard count >= 0, count <= limit - used else { return false }
        used += count
        return true
      }
    }

    func release(_ count: Int) { used.withLock { $0 -= count } }

    /// Reads the whole body and reserves its bytes; nil if the body is longer than `largest`, or too long for the budget.
    func collect(_ body: HTTPBody, upTo largest: Int) async throws -> [UInt8]? {
      var bytes: [UInt8] = []
      var isWhole = false
      defer { if !isWhole { release(bytes.count) } }
      for try await piece in body {
        guard bytes.count + piece.count <= largest, reserve(piece.count) else { return nil }
        bytes += piece
      }
      isWhole = true
      return bytes
    }
  }
#endif
