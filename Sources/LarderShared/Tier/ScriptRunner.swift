import Larder
import Synchronization

/// Runs scripts by their digest, and sends a script's source where the server does not know it yet.
final class ScriptRunner: Sendable {
  private let sender: any CommandSender
  /// The digests by script name. The server computes them, so that the client needs no SHA-1.
  private let digests = Mutex<[String: [UInt8]]>([:])

  init(_ sender: any CommandSender) { self.sender = sender }

  func run(
    _ script: Script, _ keys: [[UInt8]], _ arguments: [[UInt8]], timeout: Duration
  ) async throws(LarderError) -> Reply {
    let words = [Array(String(keys.count).utf8)] + keys + arguments
    func command(_ name: String, _ script: [UInt8]) -> Command {
      Command([Array(name.utf8), script] + words, timeout: timeout)
    }
    if let digest = digests.withLock({ $0[script.name] }) {
      let reply = try await sender.send(command("EVALSHA", digest))
      guard case .failure(let message) = reply, message.hasPrefix("NOSCRIPT") else { return reply }
    }
    let reply = try await sender.send(command("EVAL", Array(script.source.utf8)))
    if digests.withLock({ $0[script.name] }) == nil { await learnDigest(of: script, timeout) }
    return reply
  }

  private func learnDigest(of script: Script, _ timeout: Duration) async {
    let words = ["EVAL", "return redis.sha1hex(ARGV[1])", "0", script.source]
    do {
      let reply = try await sender.send(Command(words.map { Array($0.utf8) }, timeout: timeout))
      guard let digest = reply.bytes, digest.count == 40 else { return }
      digests.withLock { $0[script.name] = digest }
    } catch {
      // The script itself has run. The next run sends its source again.
    }
  }
}
