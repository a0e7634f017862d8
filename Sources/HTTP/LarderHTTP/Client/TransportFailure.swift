#if HTTP
  import Larder

  /// An error of a transport that tells an origin which cannot be trusted from one that cannot be reached.
  ///
  /// The errors of ``HTTPTransport`` that do not conform count as an origin out of reach.
  public protocol TransportFailure: Error {
    /// Whether there is a connection to the origin, but no secure one: its certificate is not trusted, it does not speak TLS, or
    /// one of both refused the other.
    var isInsecure: Bool { get }
  }

  extension HTTPCachePolicy {
    /// Whether a stored response may take the place of one that did not come because of `error`.
    func allowsStale(after error: any Error) -> Bool {
      servesStaleWhenInsecure || (error as? any TransportFailure)?.isInsecure != true
    }
  }

  /// The words in which libcurl, on which `URLSession` is built on Linux, describes a failure.
  package enum CurlWords {
    /// Whether they are about TLS, and not about a secure connection that was cut off: some failures have no code of their own.
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
