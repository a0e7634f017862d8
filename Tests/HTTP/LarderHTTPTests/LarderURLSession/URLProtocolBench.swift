#if HTTPTesting
  import Foundation
  import Larder
  import LarderHTTP
  import LarderHTTPTesting
  import LarderURLSession
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  final class RecordingDelegate: NSObject, URLSessionDataDelegate {
    let events = Mutex<[String]>([])

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      events.withLock { $0.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)") }
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      events.withLock { $0.append(String(decoding: data, as: UTF8.self)) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) { events.withLock { $0.append(error.map { "\($0)" } ?? "end") } }
  }

  final class BenchProtocol: HTTPCacheURLProtocol {
    static let current = Mutex<HTTPCache?>(nil)
    override class var cache: HTTPCache? { current.withLock { $0 } }
  }

  /// A session whose requests go through a cache to a local server.
  struct Bench {
    let server: LocalServer
    let clock: ManualClock
    let cache: HTTPCache
    let session: URLSession

    static func run(_ body: (Bench) async throws -> Void) async throws {
      let fixture = try Fixture(over: URLSessionTransport())
      BenchProtocol.current.withLock { $0 = fixture.cache }
      defer { BenchProtocol.current.withLock { $0 = nil } }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [BenchProtocol.self]
      try await LocalServer.run { server in
        let bench = Bench(
          server: server, clock: fixture.clock, cache: fixture.cache,
          session: URLSession(configuration: configuration))
        try await body(bench)
        bench.session.finishTasksAndInvalidate()
      }
    }

    func use(_ cache: HTTPCache) { BenchProtocol.current.withLock { $0 = cache } }
    func url(_ path: String) -> URL { URL(string: server.base + path)! }

    func send(_ request: URLRequest) async throws -> String {
      String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    func get(
      _ path: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> String { try await send(URLRequest(url: url(path), cachePolicy: policy)) }
  }
#endif
