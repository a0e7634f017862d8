#if Curl
  import CCurl
  public import LarderHTTP

  /// The reason why ``CurlTransport`` has no response, or only a part of it.
  public struct CurlError: TransportFailure, Sendable, CustomStringConvertible {
    /// A kind of failure.
    public enum Kind: Sendable {
      /// The name of the host has no address.
      case unknownHost
      /// The host cannot be reached: it refused the connection, or the network has no route to it.
      case refused
      /// The proxy that the environment names is unknown, or does not connect to the host.
      case refusedByProxy
      /// The host did not accept the connection in time.
      case timedOut
      /// The connection ended before the response began or was complete.
      case interrupted
      /// There is no secure connection: the certificate is not trusted, or the host does not speak TLS.
      case insecure
      /// The response is not HTTP.
      case notHTTP
      /// The request cannot be sent as it is.
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
    ///   - proxyStatus: the status of the proxy's answer to the request for a connection; 0 without such an answer.
    init(_ code: CURLcode, _ words: String, proxyStatus: Int = 0) {
      let general = unsafe String(cString: curl_easy_strerror(code))
      let isRefused = proxyStatus != 0 && !(200..<300).contains(proxyStatus)
      self.init(
        isRefused ? .refusedByProxy : Self.kind(of: code, words), words.isEmpty ? general : words)
    }

    /// The error for header fields without an end, which curl reports as a whole response.
    static let cutHead = CurlError(.interrupted, "the connection ended within the header fields")

    private static func kind(of code: CURLcode, _ words: String) -> Kind {
      switch code {
      case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
      case CURLE_COULDNT_RESOLVE_PROXY: .refusedByProxy
      case CURLE_COULDNT_CONNECT: .refused
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      // A server may refuse the client in the first bytes after the handshake.
      case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
        CurlWords.tellOfInsecurity(words) ? .insecure : .interrupted
      case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .interrupted
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CLIENTCERT:
        .insecure
      // The scheme of a request is checked before, so this code means an answer without a status line.
      // The last two codes mean a line of more than 100 KB, and a first field that continues another field. Newer versions of
      // curl report the long line with the code 100, `CURLE_TOO_LARGE`, which curl 7.88 does not define.
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
        CURLE_OUT_OF_MEMORY, CURLE_BAD_FUNCTION_ARGUMENT:
        .notHTTP
      case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .invalidRequest
      default: code.rawValue == 100 ? .notHTTP : .other
      }
    }
  }
#endif
