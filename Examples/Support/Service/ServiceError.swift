// Foundation has the networking errors.
import Foundation
import LarderCurl
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The reason why a service gave no usable answer.
public enum ServiceError: Error, Sendable, CustomStringConvertible {
  /// There is no way to it: no network, no such host, connection refused.
  case unreachable(String)
  /// The exchange ended before the answer was complete: timed out, reset, truncated. The network may be gone, or only this
  /// answer may be affected.
  case interrupted(String)
  /// The host answers, but not usably: invalid certificate, not HTTP.
  case broken(String)
  /// The service answered with an error status.
  case refused(status: Int, message: String)
  /// The service answered 429, and again after the wait it asked for; or asked for a wait that is too long.
  case throttled(wait: Duration)
  /// A body of more bytes than ``Service/largestBody``.
  case tooLarge(limit: Int)
  /// A body in the wrong form.
  case undecodable(path: String, reason: String)
  /// A web page or other content where data or an image was expected: often the login page of a public network.
  case wrongContent(path: String, type: String)

  /// Whether the network is probably gone: stored data may be shown instead.
  public var isOffline: Bool {
    switch self {
    case .unreachable, .interrupted: true
    default: false
    }
  }

  /// Whether an answer came that is not what it should be.
  public var isUnusable: Bool {
    switch self {
    case .undecodable, .wrongContent: true
    default: false
    }
  }

  /// Whether the service knows the request and refuses it; then stored data is no substitute. 408 is no refusal.
  public var isRefusal: Bool {
    if case .refused(let status, _) = self {
      (400..<500).contains(status) && status != 408
    } else {
      false
    }
  }

  public var description: String {
    switch self {
    case .unreachable(let reason): "the service cannot be reached: \(reason)"
    case .interrupted(let reason): "the service cannot be reached: \(reason)"
    case .broken(let reason): "the exchange with the service failed: \(reason)"
    case .refused(let status, let message): "the service answered \(status): \(message)"
    case .throttled(let wait): "the service limits requests and asked to wait \(wait.words)"
    case .tooLarge(let limit): "the answer is larger than \(limit / 1_000_000) MB"
    case .undecodable(let path, let reason):
      "the service's answer to \(Self.place(path)) is not what it should be: \(reason)"
    case .wrongContent(let path, let type):
      "the answer to \(Self.place(path)) is \(type), not what it should be; a login page of this network may have sent it"
    }
  }

  /// The query may contain a secret.
  private static func place(_ path: String) -> some StringProtocol { path.prefix { $0 != "?" } }

  /// Nil for an error that is not about the exchange.
  init?(after error: any Error) {
    switch error {
    // On Linux a failure of TLS has no code of its own.
    case let error as URLError
    where error.code == .unknown
      && (error as any Error as? any TransportFailure)?.isInsecure == true:
      self = .broken("no secure connection: \(error.localizedDescription)")
    case let error as URLError: self = Self.failure(error.code)
    case let error as CurlError: self = Self.failure(error)
    case HTTPCacheError.timedOut(let limit): self = .interrupted("timed out after \(limit.words)")
    case HTTPCacheError.bodyTooLarge(let limit), HTTPCacheError.bodyUnread(let limit):
      self = .tooLarge(limit: limit)
    default: return nil
    }
  }

  private static func failure(_ code: URLError.Code) -> ServiceError {
    switch code {
    case .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed:
      .unreachable("there is no network")
    case .cannotFindHost, .dnsLookupFailed: .unreachable("the host is not known")
    case .cannotConnectToHost: .unreachable("the connection was refused")
    case .timedOut: .interrupted("timed out")
    // On Linux some refused connections and truncated bodies have no code of their own.
    case .networkConnectionLost, .unknown: .interrupted("the connection was lost")
    case .secureConnectionFailed, .serverCertificateUntrusted: .broken("no secure connection")
    case .badURL: .broken("the address is not valid")
    case .badServerResponse, .cannotParseResponse: .broken("the answer is not HTTP")
    default: .broken("network error \(code.rawValue)")
    }
  }

  private static func failure(_ error: CurlError) -> ServiceError {
    switch error.kind {
    case .unknownHost: .unreachable("the host is not known")
    case .refused: .unreachable("the connection was refused")
    case .refusedByProxy: .unreachable("no connection through the proxy: \(error)")
    case .timedOut: .interrupted("timed out")
    case .interrupted: .interrupted("the connection was lost")
    case .insecure: .broken("no secure connection: \(error)")
    case .notHTTP: .broken("the answer is not HTTP")
    case .invalidRequest: .broken("the address is not valid")
    case .other: .broken("\(error)")
    }
  }
}

extension DecodingError {
  /// The place and the reason in one line: `[0].rgb is missing`.
  public var words: String {
    switch self {
    case .keyNotFound(let key, let context): "\(Self.path(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): "\(Self.path(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      "\(Self.path(context.codingPath)) is not \(Self.name(of: type))"
    case .dataCorrupted(let context):
      context.debugDescription.contains("not valid JSON")
        ? "it is not JSON" : "\(Self.path(context.codingPath)): \(context.debugDescription)"
    @unknown default: "it cannot be decoded"
    }
  }

  private static func name(of type: Any.Type) -> String {
    switch "\(type)" {
    case "String": "text"
    case "Bool": "true or false"
    case let name where name.hasPrefix("Array"): "a list"
    case let name where name.hasPrefix("Dictionary"): "an object"
    default: "a number"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    let path = keys.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return path.hasPrefix(".") ? String(path.dropFirst()) : path.isEmpty ? "the body" : path
  }
}

extension Error {
  /// The words of an error of a file. On Linux Foundation has none for some, but those of the system's error under them.
  public var fileWords: String {
    let under = (self as? CocoaError)?.underlying
    return ((under ?? self) as NSError).localizedFailureReason
      ?? (under ?? self).localizedDescription
  }
}

extension Duration {
  /// To the nearest unit, the largest of which there are two or exactly one: `6 minutes`, `90 seconds`, `1 hour`, `40 ms`.
  public var words: String {
    // Services may name any number.
    let milliseconds = Int64(min(max(self / .milliseconds(1), -1e15), 1e15))
    let units: [(Int64, String)] = [
      (86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"),
    ]
    for (unit, name) in units where milliseconds >= 2 * unit || milliseconds == unit {
      let count = (milliseconds + unit / 2) / unit
      return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
    return "\(milliseconds) ms"
  }
}

extension String {
  /// Without white space at its beginning and its end.
  public var trimmingBlanks: String {
    // Most texts have none, and the fields of a dump are many.
    let visible: ClosedRange<UInt8> = 0x21...0x7E
    if let first = utf8.first, let last = utf8.last, visible ~= first, visible ~= last {
      return self
    }
    let rest = drop { $0.isWhitespace }
    return String(rest.reversed().drop { $0.isWhitespace }.reversed())
  }

  /// Escaped for a path segment or the value of a parameter: only unreserved characters (RFC 3986, 2.3) stay.
  public var percentEscaped: String {
    utf8.map { byte in
      byte.isAlphanumeric || "-._~".utf8.contains(byte)
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}

extension UInt8 {
  /// Whether it is a letter or a digit in ASCII.
  public var isAlphanumeric: Bool {
    let character = Character(UnicodeScalar(self))
    return character.isASCII && (character.isLetter || character.isNumber)
  }
}
