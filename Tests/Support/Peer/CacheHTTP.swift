import HTTPTypes
import Larder
import LarderHTTP
import Synchronization

extension Peer {
  /// Reads requests, each on its own line: a method, a path and optional credentials. Sends each request through a cache over
  /// the store. For each response, prints the number of requests to the origin so far, and the body.
  func cacheHTTP() throws {
    let opened = try Store(at: store)
    let origin = PeerOrigin()
    let cache = HTTPCache(in: opened.namespace("http"), over: origin)
    Peer.say("open")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      guard words.count >= 2, let method = HTTPRequest.Method(words[0]) else { continue }
      var request = HTTPRequest(
        method: method, scheme: "https", authority: "example.com", path: words[1])
      if words.count > 2 { request.headerFields[.authorization] = words[2] }
      try Self.wait { [request] in
        do {
          let body = try await cache.send(request).body.bytes()
          Peer.say("\(origin.count) " + String(decoding: body, as: UTF8.self))
        } catch { Peer.say("error \(error)") }
      }
    }
    try opened.close()
    Peer.say("closed")
  }

  /// Sends requests for a stored response of 1 KB and reads the bodies. The argument is the number of requests. Two runs
  /// under `valgrind --tool=callgrind` with different numbers show how many instructions one request takes.
  func hitHTTP() throws {
    let opened = try Store(at: store)
    let cache = HTTPCache(in: opened.namespace("http"), over: PeerOrigin())
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: "example.com", path: "/page",
      headerFields: [.accept: "text/html", .userAgent: "peer"])
    let count = argument(0)
    let bytes = try Self.wait {
      var bytes = 0
      for _ in 0..<count { bytes += try await cache.send(request).body.bytes().count }
      return bytes
    }
    Peer.say("\(bytes) bytes in \(cache.statistics.requests) answers")
    try opened.close()
  }
}

private final class PeerOrigin: HTTPTransport {
  private let requests = Mutex(0)
  var count: Int { requests.withLock { $0 } }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    requests.withLock { $0 += 1 }
    let fields: HTTPFields = [.cacheControl: "max-age=1000", .eTag: "\"peer\""]
    let response = HTTPResponse(status: .ok, headerFields: fields)
    if request.path == "/endless" { return (response, Self.endless) }
    if request.path == "/long" {
      return (response, HTTPBody((0..<200_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }))
    }
    if request.path == "/page" { return (response, HTTPBody([UInt8](repeating: 1, count: 1000))) }
    return (response, HTTPBody(Array("peer".utf8)))
  }

  /// A body that sends its first megabyte immediately, then sends nothing more, and does not end.
  private static var endless: HTTPBody {
    let left = Mutex(20)
    return HTTPBody(next: {
      let isSilent = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isSilent { try await Task.sleep(for: .seconds(1_000_000)) }
      return [UInt8](repeating: 7, count: 50_000)
    })
  }
}
