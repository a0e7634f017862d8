#if Curl
  public import HTTPTypes
  public import LarderHTTP
  import LarderSystem
  import Synchronization

  /// Sends requests with libcurl by HTTP/1.1, and keeps connections for further requests.
  ///
  /// Repeated fields, except `Cookie`, and the order of the fields are kept. A body arrives as fast as its reader takes the
  /// pieces. No body is decoded, so a request without `Accept-Encoding` asks for a plain body. The body of a request, at most
  /// 64 MB, is read into memory first. Each request occupies one of at most 64 threads until the body of its response ends;
  /// further requests wait. If the reader releases the body, its thread is free within a second, or after the name lookup.
  ///
  /// A request that may have an effect, such as a POST, gets a new connection: if a kept connection ends without an answer,
  /// curl sends the request a second time. Curl takes proxies from the usual environment variables, such as `https_proxy`.
  ///
  /// A host has ten seconds to accept the connection. The transport has no other time limit: `HTTPCache` limits the response.
  /// Errors are ``CurlError``, or `HTTPCacheError` for too many fields or a body of more than 64 MB.
  public final class CurlTransport: HTTPTransport {
    private let handles = HandlePool()
    private let threads = Places(64)
    public let addedFields: HTTPFields

    /// A transport with connections of its own.
    ///
    /// - Parameter userAgent: the value of `User-Agent`, such as `weather/1.0`, in requests without that field; some services
    ///   refuse a request that names no program. If this value is nil, no field is added.
    public init(userAgent: String? = nil) {
      var fields = HTTPFields()
      fields[.userAgent] = userAgent
      addedFields = fields
    }

    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let bytes = try await body.bytes(upTo: HTTPBody.largestUpload)
      let message = try Message(request.adding(addedFields), body: bytes)
      guard await threads.take() else { throw CancellationError() }
      // The transfer ends when nobody reads it any more, whether or not the response was read.
      let reader = EndedOnRelease(try begin(message), end: { $0.abandon() })
      while let arrival = try await reader.resource.next() {
        switch arrival {
        case .interim(let response): await interim(response)
        case .head(let response):
          return (response, HTTPBody(next: { try await reader.resource.nextPiece() }))
        // The head comes before all pieces of the body, so this case does not occur.
        case .piece: break
        }
      }
      throw CurlError.cutHead
    }

    private func begin(_ message: Message) throws -> Transfer {
      let transfer = Transfer()
      do {
        try runInThread { [handles, threads] in
          defer { threads.release() }
          transfer.finish(Result { try handles.perform(message, for: transfer) })
        }
      } catch {
        threads.release()
        throw CurlError(.other, "the system allows no further thread")
      }
      return transfer
    }
  }

  /// Keeps the idle handles between transfers. Each handle may keep a connection.
  private final class HandlePool: Sendable {
    private static let mostIdle = 8

    /// The idle handles; the last used handle is at the end.
    private let idle = Mutex<[(origin: String, handle: EasyHandle)]>([])

    func perform(_ message: Message, for transfer: Transfer) throws {
      if transfer.isAbandoned { return }
      let kept = idle.withLock { idle in
        idle.lastIndex { $0.origin == message.origin }.map { idle.remove(at: $0).handle }
      }
      let handle = try kept ?? EasyHandle()
      // The pool gets the handle back before the reader sees the end, so that the next request finds the connection.
      defer { give(handle, for: message.origin) }
      try handle.perform(message, for: transfer)
    }

    private func give(_ handle: EasyHandle, for origin: String) {
      // The release of a removed handle closes its connection, which takes time, so the release comes after the lock.
      let _ = idle.withLock { idle in
        idle.append((origin, handle))
        return idle.count > Self.mostIdle ? idle.removeFirst().handle : nil
      }
    }
  }
#else
  @available(
    *, unavailable, message: "LarderCurl needs the trait Curl: .package(..., traits: [\"Curl\"])"
  )
  public struct CurlTransport {}
#endif
