public import Larder

/// Sends commands to one Redis or Valkey server. `RedisSender` is a sender; `SenderConformance` tests other senders.
public protocol CommandSender: Sendable {
  /// Sends one command and returns the server's reply. An error of the server is ``Reply/failure(_:)``.
  ///
  /// - Throws: `LarderError/Code/unreachable` if the server did not get the command. `LarderError/Code/unanswered` if it may have
  ///   got the command, but no reply came before ``Command/timeout`` or the end of the connection. The sender abandons such a
  ///   command: it drops a late reply, and other commands on the connection are not affected.
  func send(_ command: Command) async throws(LarderError) -> Reply
}

/// One command for a server.
public struct Command: Sendable {
  /// The name of the command and its arguments, which may contain any bytes.
  public var words: [[UInt8]]
  /// How long the sender waits for the reply, including the time to connect.
  public var timeout: Duration
  /// Whether the server may delay the reply. Such a command has its own connection, because replies come in order.
  public var blocks: Bool

  /// Makes a command from its words.
  public init(_ words: [[UInt8]], timeout: Duration, blocks: Bool = false) {
    self.words = words
    self.timeout = timeout
    self.blocks = blocks
  }
}

/// The reply of a server to a command, in the types of RESP2.
public enum Reply: Hashable, Sendable {
  /// No value.
  case null
  /// An integer.
  case number(Int64)
  /// A string, simple or bulk.
  case bytes([UInt8])
  /// An array. A map of RESP3 becomes an array of pairs, because RESP2 has the streams of `XREAD` in this form.
  case list([Reply])
  /// An error, with the server's message.
  case failure(String)
}

extension Reply {
  /// The bytes of a string; nil for every other reply.
  public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  /// The integer; nil for every other reply.
  public var number: Int64? { if case .number(let number) = self { number } else { nil } }

  /// The elements of an array; nil for every other reply.
  public var list: [Reply]? { if case .list(let list) = self { list } else { nil } }

  /// The error in the message of a failure. Redis before 7.0 puts other words before the error of a command in a script:
  /// `ERR Error running script (call to f_...): @user_script:1: -READONLY You can't write ...`.
  package static func serverError(in message: String) -> Substring {
    guard message.hasPrefix("ERR "),
      let own = message.split(separator: " ").first(where: { word in
        word.hasPrefix("-") && word.dropFirst().first?.isUppercase == true
      })
    else { return message[...] }
    return message[own.startIndex...].dropFirst()
  }

  /// An array of exactly `count` elements; nil for every other reply.
  func list(of count: Int) -> [Reply]? {
    guard let list, list.count == count else { return nil }
    return list
  }
}
