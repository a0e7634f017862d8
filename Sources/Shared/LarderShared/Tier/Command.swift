public import Larder

/// Sends commands to one Redis or Valkey server; `RedisSender` is one, and `SenderConformance` tests others.
public protocol CommandSender: Sendable {
  /// Sends one command and returns the server's reply. An error that the server reports is ``Reply/failure(_:)``.
  ///
  /// - Throws: `LarderError/Code/unreachable` if the server did not get the command;
  ///   `LarderError/Code/unanswered` if it may have got it, and no reply came within ``Command/timeout``. The sender
  ///   abandons such a command: a late reply is dropped, and other commands on the connection are not affected.
  func send(_ command: Command) async throws(LarderError) -> Reply
}

/// One command for a server.
public struct Command: Sendable {
  /// The name and the arguments. The words may have any bytes.
  public var words: [[UInt8]]
  /// How long the sender waits for the reply, connecting included.
  public var timeout: Duration
  /// Whether the server may keep the reply back. Such a command has a connection of its own, since the server answers the
  /// commands of a connection in order.
  public var blocks: Bool

  /// A command of words.
  public init(_ words: [[UInt8]], timeout: Duration, blocks: Bool = false) {
    self.words = words
    self.timeout = timeout
    self.blocks = blocks
  }
}

/// A server's reply to a command, in the types of RESP2.
public enum Reply: Hashable, Sendable {
  /// No value.
  case null
  /// An integer.
  case number(Int64)
  /// A string, simple or bulk.
  case bytes([UInt8])
  /// An array. A map of RESP3 is one, too, of an array for each key and value, as RESP2 has the streams of `XREAD`.
  case list([Reply])
  /// An error, with the server's words.
  case failure(String)
}

extension Reply {
  /// The bytes of a string; nil for every other reply.
  public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

  /// The integer; nil for every other reply.
  public var number: Int64? { if case .number(let number) = self { number } else { nil } }

  /// The elements of an array; nil for every other reply.
  public var list: [Reply]? { if case .list(let list) = self { list } else { nil } }

  /// The error of a failure. Redis before 7.0 puts words of its own in front of one that a command in a script met:
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
