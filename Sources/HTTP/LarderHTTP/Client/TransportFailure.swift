#if HTTP
  import Larder

  /// Why a request got no answer of its origin: the one type for the errors of all transports, and of the cache itself.
  ///
  ///     catch let failure as any TransportFailure where failure.isOffline { showStored() }
  ///
  /// The errors of ``HTTPTransport`` that do not conform count as an origin out of reach.
  public protocol TransportFailure: Error {
    /// The kind of the failure.
    var failure: TransportFailureKind { get }
  }

  /// A kind of ``TransportFailure``.
  public enum TransportFailureKind: String, Sendable, Hashable {
    /// There is no way to the origin: no network, an unknown host, a refused connection, or a network that wants a login first.
    case offline
    /// The exchange ended before the answer was complete: it timed out, or the connection was lost.
    case interrupted
    /// There is a connection to the origin, but no secure one: its certificate is not trusted, it does not speak TLS, or one of
    /// both refused the other.
    case insecure
    /// The answer is of no use, or the request cannot be sent as it is.
    case unusable
  }

  extension TransportFailure {
    /// Whether there is no way to the origin.
    public var isOffline: Bool { failure == .offline }
    /// Whether there is a connection to the origin, but no secure one.
    public var isInsecure: Bool { failure == .insecure }
    /// Whether the same request may succeed later.
    public var isRetryable: Bool { failure == .offline || failure == .interrupted }
  }

  extension HTTPCachePolicy {
    /// Whether a stored response may be served when no response came because of `error`.
    func allowsStale(after error: any Error) -> Bool {
      servesStaleWhenInsecure || (error as? any TransportFailure)?.isInsecure != true
    }
  }

  /// The words in which libcurl, on which `URLSession` is built on Linux, describes a failure.
  package enum CurlWords {
    /// Whether the words are about TLS, and not about a secure connection that was cut off: some failures have no code of their
    /// own.
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
