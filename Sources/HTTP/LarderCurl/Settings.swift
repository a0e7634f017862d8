#if Curl
  import CCurl

  /// Sets the options of a handle. Each pointer must be valid until the handle is reset.
  @unsafe struct Settings {
    let easy: UnsafeMutableRawPointer

    /// Forbids redirections, signals, user names from files and all protocols except HTTP, and turns on the checks of TLS.
    func limit() throws {
      try unsafe check(ccurl_allow_http_alone(easy))
      try unsafe set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
      try unsafe set(CURLOPT_HTTP09_ALLOWED, to: 0)
      try unsafe set(CURLOPT_FOLLOWLOCATION, to: 0)
      try unsafe set(CURLOPT_NETRC, to: Int(CURL_NETRC_IGNORED.rawValue))
      try unsafe set(CURLOPT_DISALLOW_USERNAME_IN_URL, to: 1)
      try unsafe set(CURLOPT_PATH_AS_IS, to: 1)
      try unsafe set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
      try unsafe set(CURLOPT_SSL_VERIFYPEER, to: 1)
      try unsafe set(CURLOPT_SSL_VERIFYHOST, to: 2)
      try unsafe set(CURLOPT_NOSIGNAL, to: 1)
      try unsafe set(CURLOPT_MAXCONNECTS, to: 1)
      // The limit in seconds includes the TLS handshake.
      try unsafe set(CURLOPT_CONNECTTIMEOUT, to: 10)
    }

    func describe(_ message: Message, body: UnsafeRawBufferPointer) throws {
      try unsafe set(CURLOPT_URL, to: message.url)
      if message.isHead {
        try unsafe set(CURLOPT_NOBODY, to: 1)
      } else {
        if message.hasBody {
          try unsafe set(CURLOPT_POST, to: 1)
          try unsafe set(CURLOPT_POSTFIELDSIZE, to: body.count)
          // An empty body has no base address. If the option got a nil pointer, curl would ask a callback for the body.
          if let start = body.baseAddress {
            try unsafe set(CURLOPT_POSTFIELDS, to: UnsafeMutableRawPointer(mutating: start))
          } else {
            try unsafe set(CURLOPT_COPYPOSTFIELDS, to: "")
          }
        }
        try unsafe set(CURLOPT_CUSTOMREQUEST, to: message.method)
      }
    }

    /// Sends the reports of curl to a receiver, which must live until the transfer ends.
    func report(to receiver: Receiver) throws {
      let context = unsafe Unmanaged.passUnretained(receiver).toOpaque()
      try unsafe check(
        ccurl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, _, count, context in
          unsafe Settings.receiver(context).take(line: Settings.array(bytes, count)) ? count : 0
        })
      try unsafe check(
        ccurl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, _, count, context in
          unsafe Settings.receiver(context).take(body: Settings.array(bytes, count)) ? count : 0
        })
      // Curl calls this function at least once a second, so an abandoned transfer ends within a second.
      try unsafe check(
        ccurl_set_progress(easy) { context, _, _, _, _ in
          unsafe Settings.receiver(context).transfer.isAbandoned ? 1 : 0
        })
      for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_XFERINFODATA] {
        try unsafe set(option, to: context)
      }
      try unsafe set(CURLOPT_NOPROGRESS, to: 0)
    }

    func set(_ option: CURLoption, to number: Int) throws {
      try unsafe check(ccurl_set_number(easy, option, number))
    }

    /// Sets an option to a text, which curl copies.
    func set(_ option: CURLoption, to text: String) throws {
      try unsafe check(ccurl_set_text(easy, option, text))
    }

    func set(_ option: CURLoption, to pointer: UnsafeMutableRawPointer?) throws {
      try unsafe check(ccurl_set_pointer(easy, option, pointer))
    }

    /// Throws if curl refuses an option: without the option, curl might do what this option forbids.
    private func check(_ code: CURLcode) throws {
      if code != CURLE_OK { throw CurlError(code, "") }
    }

    private static func receiver(_ context: UnsafeMutableRawPointer?) -> Receiver {
      unsafe Unmanaged<Receiver>.fromOpaque(context!).takeUnretainedValue()
    }

    private static func array(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> [UInt8] {
      unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }
#endif
