#if HTTP
  import Foundation
  import LarderHTTP
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  enum Arrival: Sendable {
    case head(HTTPURLResponse)
    case piece([UInt8])
  }

  /// The events of a task that its reader has not taken yet.
  final class Arrivals: Sendable {
    /// The most unread bytes. `URLSession` reads on even if nobody takes the bytes, so the transport ends a body with more bytes.
    private static let largestUnread = 64_000_000

    private let stream: AsyncThrowingStream<Arrival, any Error>
    private let continuation: AsyncThrowingStream<Arrival, any Error>.Continuation
    private let unread = Mutex(0)

    init(of task: URLSessionDataTask) {
      (stream, continuation) = AsyncThrowingStream.makeStream()
      // On Linux `cancel` waits for a queue that all sessions share. This closure may run on that queue, so it does not wait.
      continuation.onTermination = { _ in DispatchQueue.global().async { task.cancel() } }
    }

    func add(_ head: HTTPURLResponse) { continuation.yield(.head(head)) }

    func add(_ piece: Data) {
      let hasRoom = unread.withLock { unread in
        unread += piece.count
        return unread <= Self.largestUnread
      }
      if hasRoom {
        continuation.yield(.piece(Array(piece)))
      } else {
        finish(HTTPCacheError.bodyUnread(limit: Self.largestUnread))
      }
    }

    func finish(_ error: (any Error)?) { continuation.finish(throwing: error) }

    /// The next event; nil at the end. Only one call may be under way at a time.
    func next() async throws -> Arrival? {
      var iterator = stream.makeAsyncIterator()
      let arrival = try await iterator.next()
      // If the task is cancelled, the stream ends early. This early end is not the end of the response, so `next` throws.
      if arrival == nil { try Task.checkCancellation() }
      return arrival
    }

    func nextPiece() async throws -> [UInt8]? {
      guard case .piece(let piece) = try await next() else { return nil }
      unread.withLock { $0 -= piece.count }
      return piece
    }
  }

  final class SessionExchanges: NSObject, URLSessionDataDelegate {
    private let underWay = Mutex<[Int: Arrivals]>([:])

    /// Starts a task. If the reader is cancelled, or if the arrivals are finished early, the task is cancelled, too.
    func begin(_ task: URLSessionDataTask) -> Arrivals {
      let arrivals = Arrivals(of: task)
      underWay.withLock { $0[task.taskIdentifier] = arrivals }
      task.resume()
      return arrivals
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      // On Linux this function also gets the interim responses, which are ignored; 101 is a final response (RFC 9110, 15.2).
      if let response = response as? HTTPURLResponse,
        response.statusCode >= 200 || response.statusCode == 101
      {
        arrivals(of: dataTask)?.add(response)
      }
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      arrivals(of: dataTask)?.add(data)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      let isCancelled = (error as? URLError)?.code == .cancelled
      underWay.withLock { $0.removeValue(forKey: task.taskIdentifier) }?
        .finish(isCancelled ? CancellationError() : error)
    }

    /// Stops redirections, because the client decides about them.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    private func arrivals(of task: URLSessionTask) -> Arrivals? {
      underWay.withLock { $0[task.taskIdentifier] }
    }
  }
#endif
