#if HTTP
  import Larder

  /// Why a request got no answer of its origin: one type for the errors of all transports and of the cache itself.
  ///
  ///     catch let failure as any TransportFailure where failure.isOffline { showStored() }
  ///
  /// An error of a ``HTTPTransport`` that does not conform to this protocol counts as an unreachable origin.
  public protocol TransportFailure: Error {
    /// The kind of the failure.
    var failure: TransportFailureKind { get }
  }

  /// A kind of ``TransportFailure``.
  public enum TransportFailureKind: String, Sendable, Hashable {
    /// The origin cannot be reached: no network, an unknown host, a refused connection, or a network that wants a login first.
    case offline
    /// The exchange ended before the answer was complete: it timed out, the connection was lost, or a stored body is gone.
    case interrupted
    /// The origin was reached, but there is no secure connection: its certificate is not trusted, it does not support TLS,
    /// or one side refused the other.
    case insecure
    /// The answer cannot be used, or the request cannot be sent as it is.
    case unusable
  }

  extension TransportFailure {
    /// Whether the origin could not be reached.
    public var isOffline: Bool { failure == .offline }
    /// Whether the origin was reached, but no secure connection was made.
    public var isInsecure: Bool { failure == .insecure }
    /// Whether an equal request may succeed later.
    public var isRetryable: Bool { failure == .offline || failure == .interrupted }
  }

  extension HTTPCachePolicy {
    /// Whether a stored response may replace the response that `error` prevented.
    func allowsStale(after error: any Error) -> Bool {
      servesStaleWhenInsecure || (error as? any TransportFailure)?.isInsecure != true
    }
  }

  /// The descriptions that libcurl gives of failures. On Linux, `URLSession` uses libcurl.
  package enum CurlWords {
    /// Whether the description is about TLS itself, and not about a secure connection that was cut off. Some failures have
    /// no code of their own.
    package static func tellOfInsecurity(_ words: String) -> Bool {
      let words = words.lowercased()
      if ["ssl_read", "ssl_write", "recv error", "send error"].contains(where: words.contains) {
        return words.contains("alert")
          || words.contains("ssl routines") && !words.contains("unexpected eof")
      }
      return ["ssl", "tls", "certificate"].contains(where: words.contains)
    }
  }
#endif
