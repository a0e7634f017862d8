#if Curl
  import CCurl
  public import LarderHTTP

  /// The reason why ``CurlTransport`` has no response, or only a part of it.
  public struct CurlError: TransportFailure, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public enum Kind: Sendable {
      /// The name of the host has no address.
      case unknownHost
      /// The host refused the connection, or the network has no route to the host.
      case refused
      /// The proxy from the environment variables has no known address, or did not connect to the host.
      case refusedByProxy
      /// The host did not accept the connection in time.
      case timedOut
      /// The connection ended before the whole response had come.
      case interrupted
      /// There is no secure connection: the certificate is not trusted, or the host does not speak TLS.
      case insecure
      /// The response is not HTTP.
      case notHTTP
      /// The request itself is invalid. For example, its URL is malformed.
      case invalidRequest
      /// Any other failure of curl or of the system.
      case other
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The message of curl or of the transport.
    public let description: String
    /// The meaning of the kind for a client.
    public var failure: TransportFailureKind {
      switch kind {
      case .unknownHost, .refused, .refusedByProxy: .offline
      case .timedOut, .interrupted: .interrupted
      case .insecure: .insecure
      case .notHTTP, .invalidRequest, .other: .unusable
      }
    }

    init(_ kind: Kind, _ description: String) {
      (self.kind, self.description) = (kind, description)
    }

    /// - Parameters:
    ///   - words: curl's message for this failure, which may be empty.
    ///   - proxyStatus: the status with which the proxy answered the request for a connection; 0 if no proxy answered.
    init(_ code: CURLcode, _ words: String, proxyStatus: Int = 0) {
      let general = unsafe String(cString: curl_easy_strerror(code))
      let isRefused = proxyStatus != 0 && !(200..<300).contains(proxyStatus)
      self.init(
        isRefused ? .refusedByProxy : Self.kind(of: code, words), words.isEmpty ? general : words)
    }

    /// The connection ended within the header fields. Curl reports success, so the transport throws this error.
    static let cutHead = CurlError(.interrupted, "the connection ended within the header fields")

    private static func kind(of code: CURLcode, _ words: String) -> Kind {
      switch code {
      case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
      case CURLE_COULDNT_RESOLVE_PROXY: .refusedByProxy
      case CURLE_COULDNT_CONNECT: .refused
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      // Curl reports a refusal after the handshake as a failed read or write, so the message decides whether TLS has failed.
      case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
        CurlWords.tellOfInsecurity(words) ? .insecure : .interrupted
      case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .interrupted
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CLIENTCERT:
        .insecure
      // The scheme was checked before, so `CURLE_UNSUPPORTED_PROTOCOL` means an answer without a status line. `OUT_OF_MEMORY`
      // means a line of more than 100 KB. `BAD_FUNCTION_ARGUMENT` means that the first field continues another field. For the
      // long line, versions of curl after 7.88 report the code 100, `CURLE_TOO_LARGE`, which curl 7.88 does not define.
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
        CURLE_OUT_OF_MEMORY, CURLE_BAD_FUNCTION_ARGUMENT:
        .notHTTP
      case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .invalidRequest
      default: code.rawValue == 100 ? .notHTTP : .other
      }
    }
  }
#endif
