import Dispatch
import HTTPTypes
import Larder
import LarderHTTP
import Synchronization

extension Peer {
  /// Makes the requests that it reads, a method, a path and perhaps credentials a line, through a cache over the store; tells of each how
  /// often the origin was asked so far, and the body.
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
      let done = DispatchSemaphore(value: 0)
      Task { [request] in
        do {
          let body = try await cache.send(request).body.bytes()
          Peer.say("\(origin.count) " + String(decoding: body, as: UTF8.self))
        } catch {
          Peer.say("error \(error)")
        }
        done.signal()
      }
      done.wait()
    }
    try opened.close()
    Peer.say("closed")
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
    return (HTTPResponse(status: .ok, headerFields: fields), HTTPBody(Array("peer".utf8)))
  }
}
