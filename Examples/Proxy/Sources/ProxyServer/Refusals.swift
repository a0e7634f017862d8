import HTTPTypes
import Larder
import LarderHTTP

extension HTTPResponse {
  static func failure(_ code: Int, _ phrase: String) -> HTTPResponse {
    HTTPResponse(
      status: .init(code: code, reasonPhrase: phrase), headerFields: [.contentLength: "0"])
  }

  static var empty: HTTPResponse {
    HTTPResponse(status: .ok, headerFields: [.contentLength: "0"])
  }

  static var gatewayTimeout: HTTPResponse { failure(504, "Gateway Timeout") }

  /// The answer to a request that cannot be read.
  static func refusal(_ error: MessageError) -> HTTPResponse {
    switch error {
    case .targetTooLong: failure(414, "URI Too Long")
    case .unknownCoding: failure(501, "Not Implemented")
    case .tooManyFields: failure(431, "Request Header Fields Too Large")
    case .unknownVersion: failure(505, "HTTP Version Not Supported")
    case .timedOut: failure(408, "Request Timeout")
    case .malformed, .incomplete: failure(400, "Bad Request")
    }
  }

  /// The answer when there is no response (RFC 9110, 15.6): the origin is silent, it cannot be reached, its answer cannot be
  /// used, or the store fails.
  static func failure(_ error: any Error) -> HTTPResponse {
    switch error {
    case HTTPCacheError.timedOut: gatewayTimeout
    case is LarderError: failure(500, "Internal Server Error")
    default: failure(502, "Bad Gateway")
    }
  }
}
