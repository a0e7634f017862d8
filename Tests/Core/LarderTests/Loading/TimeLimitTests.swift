import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct TimeLimitTests: StoreSuite {
  let fixture = StoreFixture()
  private let origin = Origin()
  private let short = LoadOptions(timeout: .milliseconds(200), waitsForCommit: true)

  @Test(arguments: [true, false])
  func `each caller has its own time, and others' load goes on`(isFirst: Bool) async throws {
    origin.close()
    var tasks: [TextLoad] = []
    let callers: [LoadOptions] = isFirst ? [short, .committed] : [.committed, short]
    for (number, options) in callers.enumerated() {
      tasks.append(origin.startAsking(boards, options))
      try await waitUntil { boards.namespace.engine.loads.running.callers() == number + 1 }
    }
    try await origin.waitForLoads(1)
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .milliseconds(200))
    let error = await #expect(throws: LarderError.self) { try await tasks[isFirst ? 0 : 1].value }
    #expect(error?.code == .timedOut && origin.cancelled == 0)
    origin.open()
    #expect(try await tasks[isFirst ? 1 : 0].value.value == "load 1")
    #expect(try await boards.settled() == "load 1" && origin.loads == 1)
  }

  @Test func `a caller that waits for a refresh does not get its time limit`() async throws {
    try await putStale()
    origin.close()
    let errors = Shared<[any Error]>([])
    let refreshing = LoadOptions(
      refreshTimeout: .seconds(5),
      onBackgroundError: { error in errors.withLock { $0.append(error) } })
    #expect(try await origin.ask(boards, refreshing).value == "old")
    try await origin.waitForLoads(1)
    let waiting = origin.startAsking(boards, LoadOptions(policy: .revalidate, waitsForCommit: true))
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 2 && clock.isAwaited }
    clock.advance(by: .seconds(5))
    try await waitUntil { errors.withLock { !$0.isEmpty } }
    #expect(origin.cancelled == 0)
    origin.open()
    #expect(try await waiting.value.value == "load 1")
  }

  private let soft = LoadOptions(
    stale: Staleness(onError: .hours(1)), softTimeout: .milliseconds(300), waitsForCommit: true)

  private func putStale() async throws {
    try await boards.set("old", for: "thun", .with(expires: .after(.minutes(1)), stale: .hours(1)))
    clock.advance(by: .minutes(1))
  }

  @Test func `after the soft limit a caller gets the stale value, the load goes on`() async throws {
    try await putStale()
    let first = try await origin.startHeld(boards, soft)
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .milliseconds(299))
    #expect(boards.namespace.engine.loads.running.callers() == 1)
    clock.advance(by: .milliseconds(1))
    let served = try await first.value
    #expect(served.value == "old" && served.source == .stale)
    #expect((served.error as? LarderError)?.code == .timedOut)
    #expect(origin.cancelled == 0)
    let second = origin.startAsking(boards, soft)
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 2 }
    origin.open()
    #expect(try await second.value.value == "load 1")
    #expect(try await boards.settled() == "load 1" && origin.loads == 1)
  }

  @Test(arguments: [100, 400])
  func `no caller gets the stale value after its window`(milliseconds: Int) async throws {
    try await putStale()
    clock.advance(by: .hours(1) - .milliseconds(milliseconds))
    origin.fail()
    let first = try await origin.startHeld(boards, soft)
    if milliseconds > 300 { try await waitUntil { clock.isAwaited } }
    clock.set(to: clock.now.advanced(by: .milliseconds(milliseconds)))
    clock.advance(by: .milliseconds(300))
    try await waitUntil { boards.namespace.engine.loads.running.callers() > milliseconds / 400 }
    origin.open()
    await #expect(throws: Origin.Refusal.self) { try await first.value }
  }

  @Test func `a load that goes on has the time of a refresh`() async throws {
    try await putStale()
    let errors = Shared<[any Error]>([])
    var options = soft
    options.refreshTimeout = .seconds(5)
    options.onBackgroundError = { error in errors.withLock { $0.append(error) } }
    let first = try await origin.startHeld(boards, options)
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .milliseconds(300))
    #expect(try await first.value.value == "old")
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .seconds(5))
    try await waitUntil { errors.withLock { !$0.isEmpty } }
    #expect((errors.withLock { $0.first } as? LarderError)?.code == .timedOut)
    try await waitUntil { origin.cancelled == 1 }
  }

  @Test func `without a stale value a caller waits on, up to its own limit`() async throws {
    origin.close()
    var options = soft
    let first = origin.startAsking(boards, options)
    options.timeout = .seconds(1)
    let second = origin.startAsking(boards, options)
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 2 && clock.isAwaited }
    clock.advance(by: .milliseconds(300))
    #expect(boards.namespace.engine.loads.running.callers() == 2)
    clock.advance(by: .milliseconds(700))
    #expect(await code { try await second.value } == .timedOut)
    // The load may hang, so a later caller with a time limit does not join the load.
    clock.advance(by: .minutes(1))
    let third = try await origin.startHeld(boards, short)
    origin.open()
    #expect(try await first.value.value == "load 1")
    #expect(try await third.value.value == "load 2")
  }

  @Test(arguments: [10, 20], [false, true])
  func `a lifetime up to refresh ahead is loaded anew after its half`(
    minutes: Int, isUnchanged: Bool
  ) async throws {
    let options = LoadOptions(
      expires: .after(.minutes(10)), refreshAhead: .minutes(minutes), waitsForCommit: true)
    func expect(_ value: Int, loads: Int) async throws {
      let found = try await boards.value(for: "thun", options: options) { known in
        let text = try await origin.text()
        return isUnchanged && known != nil ? .unchanged : .value(text)
      }
      #expect(found == "load \(isUnchanged ? 1 : value)")
      try await boards.settle()
      #expect(origin.loads == loads)
    }
    for round in 1...3 {
      for _ in 0..<20 { try await expect(round, loads: round) }
      clock.advance(by: .minutes(5) - .milliseconds(1))
      try await expect(round, loads: round)
      clock.advance(by: .milliseconds(1))
      try await expect(round, loads: round + 1)
    }
  }
}
