import LarderSystem
import Synchronization
import Testing

@Suite struct WaitersTests {
  private let waiters = Waiters<Int>()

  /// Starts a task that waits, and returns once the task waits.
  private func wait(until: Int64 = .min) async -> Task<Int?, Never> {
    let begun = Atomic(false)
    let task = Task { [waiters] in
      await waiters.wait(until: until) {
        begun.store(true, ordering: .sequentiallyConsistent)
        return nil
      }
    }
    while !begun.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    // The waiter checks its condition under the lock that `isEmpty` takes, so the loop below ends when the waiter is in the list.
    while waiters.isEmpty { await Task.yield() }
    return task
  }

  @Test func `each task that waits until then gets the outcome`() async {
    let (early, late) = (await wait(until: 5), await wait(until: 9))
    waiters.resume(with: 1, at: 4)
    waiters.resume(with: 2, at: 5)
    #expect(await early.value == 2)
    waiters.resume(with: 3)
    #expect(await late.value == 3)
    #expect(waiters.isEmpty)
  }

  @Test func `the first that came is resumed first, and none if none waits`() async {
    let (first, second) = (await wait(), await wait())
    for number in 1...3 { waiters.resumeFirst(with: number) { #expect(number == 3) } }
    #expect(await first.value == 1)
    #expect(await second.value == 2)
  }

  @Test func `a cancelled task gets nothing, whether it waited or not`() async {
    let waiting = await wait()
    waiting.cancel()
    #expect(await waiting.value == nil)
    let calls = Atomic(0)
    let early = Task { [waiters] in
      while !Task.isCancelled { await Task.yield() }
      return await waiters.wait(
        unless: { 7 }, onCancel: { calls.add(1, ordering: .sequentiallyConsistent) })
    }
    early.cancel()
    #expect(await early.value == nil)
    #expect(calls.load(ordering: .sequentiallyConsistent) == 1)
    #expect(waiters.isEmpty)
  }

  @Test func `a task does not wait for what is there`() async {
    #expect(await waiters.wait(unless: { 7 }) == 7)
  }
}
