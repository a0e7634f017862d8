import NIOCore
import Testing

@testable import ProxyServer

/// An event loop yields the processor between its answers, but for at most half of the time.
@Suite struct LoopTurnTests {
  /// A clock that moves only when a test moves it.
  private final class Machine {
    var now = NIODeadline.uptimeNanoseconds(1)
    /// How long other threads run when the loop yields.
    var wait = TimeAmount.zero
    var count = 0

    func turn() -> LoopTurn {
      LoopTurn {
        self.now
      } giveWay: {
        self.count += 1
        self.now = self.now + self.wait
      }
    }
  }

  @Test func `a loop gives way after each batch`() {
    let machine = Machine()
    var turn = machine.turn()
    for _ in 1..<LoopTurn.batch { turn.countAnswer() }
    #expect(machine.count == 0)
    turn.countAnswer()
    #expect(machine.count == 1)
    for _ in 0..<2 * LoopTurn.batch { turn.countAnswer() }
    #expect(machine.count == 3 && turn.count == 3)
  }

  @Test func `a loop that has waited runs as long before it gives way again`() {
    let machine = Machine()
    var turn = machine.turn()
    machine.wait = .milliseconds(3)
    for _ in 0..<LoopTurn.batch { turn.countAnswer() }
    machine.now = machine.now + .milliseconds(2)
    for _ in 0..<4 * LoopTurn.batch { turn.countAnswer() }
    #expect(machine.count == 1)
    machine.now = machine.now + .milliseconds(1)
    machine.wait = .zero
    for _ in 0..<2 * LoopTurn.batch { turn.countAnswer() }
    #expect(machine.count == 3)
  }
}
