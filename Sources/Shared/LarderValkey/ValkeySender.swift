#if Valkey
  public import Larder
  public import LarderShared
  import NIOCore
  public import Valkey

  /// Sends commands through a client of valkey-swift, to a server or to a cluster.
  ///
  /// The program makes and runs the client, whose own time limit for a command must exceed the limits in `SharedOptions`.
  public struct ValkeySender: CommandSender {
    private let client: any ValkeyClientProtocol

    /// A sender over a `ValkeyClient` or a `ValkeyClusterClient`.
    public init(_ client: some ValkeyClientProtocol) { self.client = client }

    public func send(_ command: LarderShared.Command) async throws(LarderError) -> Reply {
      let reply = PendingReply()
      // In valkey-swift, the cancellation of a command ends the connection of all commands, so a late command is not cancelled.
      Task { [client] in
        do throws(ValkeyClientError) {
          let raw = RawCommand(command: command, reply: reply)
          reply.complete(.success(Reply(try await client.execute(raw))))
        } catch {
          if error.errorCode == .commandError {
            reply.complete(.success(.failure(error.message ?? "ERR")))
          } else {
            reply.fail("\(error.errorCode)")
          }
        }
      }
      let timer = Task {
        try await Task.sleep(for: min(command.timeout, .hours(1)))
        reply.fail("the server did not answer within \(command.timeout)")
      }
      defer { timer.cancel() }
      return try await reply.value()
    }
  }

  extension PendingReply {
    fileprivate func fail(_ reason: String) {
      complete(.failure(LarderError(.unreachable, reason)), ifUnsent: true)
      complete(.failure(LarderError(.unanswered, reason)))
    }
  }

  /// A command that consists of any words.
  private struct RawCommand: ValkeyCommand {
    static let name = "RAW"

    let command: LarderShared.Command
    let reply: PendingReply

    var isBlocking: Bool { command.blocks }

    /// The key that chooses the server. All keys of a command are in one slot, and come before words that may have any bytes.
    var keysAffected: [ValkeyKey] {
      let key = command.words.first(where: TierNames.isKey)
      return key.map { [ValkeyKey(ByteBuffer(bytes: $0))] } ?? []
    }

    func encode(into commandEncoder: inout ValkeyCommandEncoder) {
      // A caller that no longer waits was told that nothing happened. So `TIME`, which changes nothing, is sent instead.
      let words = reply.markSent() ? command.words : [Array("TIME".utf8)]
      commandEncoder.encodeArray(words.map(Word.init))
    }

    static func == (left: Self, right: Self) -> Bool { left.reply === right.reply }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(reply)) }
  }

  private struct Word: RESPRenderable {
    let bytes: [UInt8]
    let respEntries = 1

    func encode(into commandEncoder: inout ValkeyCommandEncoder) {
      bytes.encode(into: &commandEncoder)
    }
  }

  extension Reply {
    /// Makes a reply in the types of RESP2 from a reply in RESP3.
    fileprivate init(_ token: RESPToken) {
      switch token.value {
      case .null: self = .null
      case .number(let number): self = .number(number)
      case .boolean(let flag): self = .number(flag ? 1 : 0)
      case .double(let number): self = .bytes(Array("\(number)".utf8))
      case .simpleString(let bytes), .bulkString(let bytes), .verbatimString(let bytes),
        .bigNumber(let bytes):
        self = .bytes(Array(bytes.readableBytesView))
      case .simpleError(let bytes), .bulkError(let bytes): self = .failure(String(buffer: bytes))
      case .array(let list), .set(let list), .push(let list): self = .list(list.map { Reply($0) })
      case .map(let map), .attribute(let map):
        self = .list(map.map { .list([Reply($0.key), Reply($0.value)]) })
      }
    }
  }
#else
  @available(
    *, unavailable,
    message: "LarderValkey needs the trait Valkey: .package(..., traits: [\"Valkey\"])"
  )
  public struct ValkeySender {}
#endif
