#if Curl
  import CCurl
  import HTTPTypes
  import LarderHTTP
  import Synchronization

  /// A handle of curl, and its kept connection. One transfer at a time uses the handle; other transfers wait.
  @safe final class EasyHandle: Sendable {
    private let easy: Mutex<UnsafeMutableRawPointer>

    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init() throws {
      guard Self.isInitialized, let new = unsafe curl_easy_init() else {
        throw CurlError(CURLE_FAILED_INIT, "")
      }
      unsafe easy = Mutex(new)
    }

    deinit { unsafe easy.withLock { easy in unsafe curl_easy_cleanup(easy) } }

    /// Sends the request, and hands the response to the transfer. The call blocks its thread until the transfer ends.
    func perform(_ message: Message, for transfer: Transfer) throws {
      try unsafe easy.withLock { easy in try unsafe Self.perform(message, by: easy, for: transfer) }
    }

    private static func perform(
      _ message: Message, by easy: UnsafeMutableRawPointer, for transfer: Transfer
    ) throws {
      let receiver = Receiver(transfer)
      // The options point to `words`, `lines` and `receiver`, so all three live until the reset, which keeps the connection.
      var words = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
      let lines = try unsafe list(message.lines)
      defer { unsafe curl_slist_free_all(lines) }
      let (code, proxyStatus) = try unsafe words.withUnsafeMutableBytes { words in
        try unsafe message.body.withUnsafeBytes { body in
          defer { unsafe curl_easy_reset(easy) }
          let settings = unsafe Settings(easy: easy)
          try unsafe settings.set(CURLOPT_ERRORBUFFER, to: words.baseAddress)
          try unsafe settings.set(CURLOPT_HTTPHEADER, to: UnsafeMutableRawPointer(lines))
          try unsafe settings.limit()
          try unsafe settings.describe(message, body: body)
          if unsafe message.hasEffect || ccurl_has_input(easy) != 0 {
            try unsafe settings.set(CURLOPT_FRESH_CONNECT, to: 1)
          }
          try unsafe settings.report(to: receiver)
          let code = withExtendedLifetime(receiver) { unsafe curl_easy_perform(easy) }
          var status = 0
          if code != CURLE_OK {
            _ = unsafe ccurl_get_number(easy, CURLINFO_HTTP_CONNECTCODE, &status)
          }
          return (code, status)
        }
      }
      if let failure = receiver.failure { throw failure }
      if code != CURLE_OK {
        let text = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        throw CurlError(code, String(decoding: text, as: UTF8.self), proxyStatus: proxyStatus)
      }
      guard receiver.head.isComplete else { throw CurlError.cutHead }
    }

    private static func list(_ lines: [[UInt8]]) throws -> UnsafeMutablePointer<curl_slist>? {
      var list: UnsafeMutablePointer<curl_slist>?
      for line in lines {
        let longer = unsafe (line + [0]).withUnsafeBytes {
          unsafe curl_slist_append(list, $0.bindMemory(to: CChar.self).baseAddress)
        }
        guard let longer = unsafe longer else {
          unsafe curl_slist_free_all(list)
          throw CurlError(.other, "there is no memory for the request")
        }
        unsafe list = longer
      }
      return unsafe list
    }
  }

  /// Receives the reports of curl, on the thread of the transfer.
  final class Receiver {
    let transfer: Transfer
    private(set) var head = HeadParser()
    private(set) var failure: (any Error)?

    init(_ transfer: Transfer) { self.transfer = transfer }

    /// Takes a line of the head. Returns false to end the transfer.
    func take(line: [UInt8]) -> Bool {
      do {
        if let response = try head.add(line) {
          transfer.receive(response, isFinal: head.isComplete)
        }
        return true
      } catch {
        failure = error
        return false
      }
    }

    /// Takes a piece of the body. Returns false to end the transfer.
    func take(body piece: [UInt8]) -> Bool { head.isComplete && transfer.receive(body: piece) }
  }
#endif
