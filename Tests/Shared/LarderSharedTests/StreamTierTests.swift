import Larder
import LarderSharedTesting
import Synchronization
import TestSupport
import Testing

@testable import LarderShared

@Suite struct StreamTierTests {
  private struct Replies: CommandSender {
    var replies: [String: Reply]
    var time: ManualClock?

    func send(_ command: Command) async throws(LarderError) -> Reply {
      let name = String(decoding: command.words[0], as: UTF8.self)
      if name == "TIME", let seconds = time.map({ "\($0.now.milliseconds / 1000)" }) {
        return .list([.bytes(Array(seconds.utf8)), .bytes(Array("0".utf8))])
      }
      return replies[name] ?? .failure("ERR unknown")
    }
  }

  private let key = SharedKey(namespace: "n", bytes: [1])

  private func fetch(stamp: ValueStamp, head: String, second: Int) async throws -> FetchedValue? {
    let sender = Replies(replies: [
      "MGET": .list([.bytes(stamp.bytes), .bytes(Array(head.utf8)), .null]),
      "TIME": .list([.bytes(Array("\(second)".utf8)), .bytes(Array("0".utf8))]),
    ])
    let tier = try StreamTier(sender, application: "test", clock: ManualClock())
    return try await tier.fetch(key, tags: [])
  }

  @Test func aStampBeyondTheHeadIsNoStamp() async throws {
    let stamp = ValueStamp(version: Position(milliseconds: 7, sequence: 2), written: 0)
    #expect(try await fetch(stamp: stamp, head: "7-2 0", second: 1)?.isInvalidated == false)
    #expect(try await fetch(stamp: stamp, head: "7-1 0", second: 1)?.isInvalidated == true)
  }

  @Test func aValueFromTheFutureCountsAsExpired() async throws {
    let stamp = ValueStamp(version: .zero, written: 10_000_000)
    for (second, age) in [10: Duration.zero, 12: .seconds(2), 9: .zero] {
      #expect(try await fetch(stamp: stamp, head: "7-1 0", second: second)?.age == age)
    }
    let old = try await fetch(stamp: stamp, head: "7-1 0", second: 8)
    #expect(try #require(old).age > Frame.longest)
  }

  @Test func afterASuspensionTheServersClockIsReadAgain() async throws {
    let clock = ManualClock()
    let stamp = ValueStamp(version: .zero, written: UInt64(clock.now.milliseconds) * 1000)
    let sender = Replies(
      replies: ["MGET": .list([.bytes(stamp.bytes), .bytes(Array("7-1 0".utf8)), .null])],
      time: clock)
    let tier = try StreamTier(sender, application: "test", clock: clock)
    #expect(try await tier.fetch(key, tags: [])?.age == .zero)
    // On a suspended machine, only the wall clock runs.
    clock.set(to: clock.now.advanced(by: .hours(2)))
    #expect(try await tier.fetch(key, tags: [])?.age == .hours(2))
  }

  @Test(arguments: [Reply.null, .list([.list([.bytes([1]), .list([])])])])
  func anEmptyReplyThatComesAtOnceIsWaitedFor(reply: Reply) async throws {
    let clock = ManualClock()
    let tier = try StreamTier(Replies(replies: ["XREAD": reply]), application: "test", clock: clock)
    let isDone = Atomic(false)
    let reading = Task {
      let records = try await tier.records(after: .zero, waiting: .milliseconds(500))
      isDone.store(true, ordering: .sequentiallyConsistent)
      return records
    }
    for _ in 0..<100 { await Task.yield() }
    let isEarly = isDone.load(ordering: .sequentiallyConsistent)
    #expect(!isEarly)
    try await whileTimePasses([], clock) { isDone.load(ordering: .sequentiallyConsistent) }
    #expect(try await reading.value == [])
  }

  /// A key of another program has the name of a lease, but never expires. Callers must wait before they ask the server again.
  @Test func aLeaseWithoutAnEndIsHeldForLong() async throws {
    let sender = Replies(replies: ["EVAL": .list([.number(3), .number(-1)])])
    let answer = try await StreamTier(sender, application: "test").acquire(
      key, rejecting: nil, as: LeaseToken(), for: .seconds(3))
    #expect(answer == .held(.seconds(60)))
  }

  @Test func repliesThatDoNotComeMakeTheNextOnesShorter() {
    let size = ReplySize()
    let most = size.records
    for _ in 0..<20 { size.halve() }
    #expect(size.records == 1)
    size.grow(after: 0, of: 1)
    #expect(size.records == 1)
    while size.records < most { size.grow(after: size.records, of: size.records) }
    size.grow(after: most, of: most)
    #expect(size.records == most)
  }

  @Test(arguments: [
    ("READONLY You can't write", "READONLY You can't write"), ("ERR x", "ERR x"), ("", ""),
    ("ERR a -b", "ERR a -b"),
    (
      "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write",
      "READONLY You can't write"
    ),
  ]) func theErrorOfACommandInAScriptIsFound(message: String, error: String) {
    #expect(Reply.serverError(in: message) == error)
  }
}

@Suite struct MemoryTierTests {
  @Test(arguments: TierConformance.allCases)
  func theTierInMemoryKeepsTheRules(_ check: TierConformance) async throws {
    try await check.run(on: MemoryTier())
  }
}

/// Replies that no server should send. A tier that sends such a reply counts as unusable, and loads continue without the tier.
@Suite struct HostileTierTests {
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
      case 6: .bytes((0..<rng.next(in: 0..<80)).map { _ in UInt8.random(in: 0...255, using: &rng) })
      default: .list((0..<rng.next(in: 0..<4)).map { _ in reply(&rng, depth: depth + 1) })
      }
    }
  }

  @Test func randomRepliesNeverTrapAndTheLoadRuns() async throws {
    let seed = TestSettings.seed
    let sender = RandomSender(seed)
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let shared = try Shared(sender, application: "test")
    let cache = store.cache(TextCodec(), in: "n", shared: shared)
    // A random reply may tell a caller to wait for another machine, which does not exist. Only this clock ends the wait.
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
