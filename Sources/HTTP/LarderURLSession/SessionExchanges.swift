#if HTTP
  import Foundation
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  enum Arrival: Sendable {
    case head(HTTPURLResponse)
    case piece([UInt8])
  }

  /// Forwards the events of each task of a session.
  final class SessionExchanges: NSObject, URLSessionDataDelegate {
    private typealias Continuation = AsyncThrowingStream<Arrival, any Error>.Continuation

    private let underWay = Mutex<[Int: Continuation]>([:])

    /// Starts a task. It is cancelled when its reader stops.
    func begin(_ task: URLSessionDataTask) -> AsyncThrowingStream<Arrival, any Error> {
      let (arrivals, continuation) = AsyncThrowingStream.makeStream(of: Arrival.self)
      // On Linux all sessions share a queue, for which `cancel` waits, and the reader may be stopped on it.
      continuation.onTermination = { _ in DispatchQueue.global().async { task.cancel() } }
      underWay.withLock { $0[task.taskIdentifier] = continuation }
      task.resume()
      return arrivals
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      // On Linux interim responses come here, too; 101 is a final one (RFC 9110, 15.2).
      if let response = response as? HTTPURLResponse,
        response.statusCode >= 200 || response.statusCode == 101
      {
        hand(.head(response), of: dataTask)
      }
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      hand(.piece(Array(data)), of: dataTask)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      let isCancelled = (error as? URLError)?.code == .cancelled
      underWay.withLock { $0.removeValue(forKey: task.taskIdentifier) }?
        .finish(throwing: isCancelled ? CancellationError() : error)
    }

    /// Redirections are not followed: the client decides.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    private func hand(_ arrival: Arrival, of task: URLSessionTask) {
      _ = underWay.withLock { $0[task.taskIdentifier] }?.yield(arrival)
    }
  }
#endif
