import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderShared

/// Replies that no server should send: a tier that sends them counts as unusable, and nothing worse happens.
@Suite struct HostileTierTests {
  /// Answers every command with random replies.
  private final class RandomSender: CommandSender {
    private let state: Mutex<SeededRNG>

    init(_ seed: UInt64) { state = Mutex(SeededRNG(seed: seed)) }

    func send(_ command: Command) async throws(LarderError) -> Reply {
      state.withLock { Self.reply(&$0, depth: 0) }
    }

    private static func reply(_ rng: inout SeededRNG, depth: Int) -> Reply {
      switch rng.next(in: 0..<(depth < 2 ? 9 : 7)) {
      case 0: .null
      case 1: .number(Int64.random(in: -2...4, using: &rng))
      case 2: .number(Int64.random(in: .min ... .max, using: &rng))
      case 3: .failure("ERR x")
      case 4: .bytes(Array("17\(rng.next(in: 0..<100))-\(rng.next(in: 0..<3))".utf8))
      case 5: .bytes(Array("\(rng.next(in: 0..<2_000_000))".utf8))
      case 6:
        .bytes((0..<rng.next(in: 0..<80)).map { _ in UInt8.random(in: 0...255, using: &rng) })
      default: .list((0..<rng.next(in: 0..<4)).map { _ in reply(&rng, depth: depth + 1) })
      }
    }
  }

  private struct OneReply: CommandSender {
    let reply: Reply
    func send(_ command: Command) async throws(LarderError) -> Reply { reply }
  }

  /// A key of another program has the name of a lease: callers that wait must not ask the server again at once.
  @Test func aLeaseWithoutAnEndIsHeldForLong() async throws {
    let sender = OneReply(reply: .list([.number(3), .number(-1)]))
    let answer = try await StreamTier(sender, application: "test").acquire(
      SharedKey(namespace: "n", bytes: [1]), rejecting: nil, as: LeaseToken(), for: .seconds(3))
    #expect(answer == .held(.seconds(60)))
  }

  @Test func randomRepliesNeverTrapAndTheLoadRuns() async throws {
    let seed = TestSettings.seed
    let sender = RandomSender(seed)
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let shared = try Shared(sender, application: "test")
    let cache = store.cache(TextCodec(), in: "n", shared: shared)
    // A random reply may tell callers to wait for another machine, which does not exist.
    let time = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(1))
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    defer { time.cancel() }
    for index in 0..<300 * TestSettings.trials {
      let value = try await cache.value(for: "\(index)") { "loaded" }
      #expect(value == "loaded", "LARDER_SEED=\(seed)")
      do { try await cache.set("set", for: "\(index)") } catch let error as LarderError {
        #expect([.unreachable, .unanswered].contains(error.code), "LARDER_SEED=\(seed)")
      }
    }
    #expect(try store.verify().faults == [])
  }
}
