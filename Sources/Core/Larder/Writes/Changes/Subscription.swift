import LMDB
import LarderSystem
import Synchronization

final class Subscription: Sendable {
  private let engine: StoreEngine
  private let filter: [UInt8]?
  private let state: Mutex<State>

  private struct State {
    var position = ChangeRing.Position(gaps: 0, head: 0)
    var leaseExpirations = 0
    var health = StoreHealth.healthy
    var failure: LarderError?
    var isOver = false
  }

  init(_ store: Store, only namespace: String?) {
    engine = store.engine
    filter = namespace.map { Array($0.utf8) }
    var state = State()
    do throws(LarderError) {
      (state.position, state.leaseExpirations) = try store.engine.beginSubscription(
        mayWrite: !store.isReadOnly)
    } catch { state.failure = error }
    self.state = Mutex(state)
  }

  deinit { end() }

  func end() {
    // In a forked child, a lock may be locked for ever.
    if engine.environment.isForked { return }
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver && state.failure == nil
    }
    if isFirst { engine.changes.leave() }
  }

  func next() async -> Change? {
    waiting: while !Task.isCancelled {
      switch look() {
      case .change(let change): return change
      case .over: break waiting
      case .nothing(let sight):
        // Another loop over the same sequence may end the subscription at any time.
        await engine.changes.sleepers.wait(
          unless: { engine.changes.sight != sight || state.withLock { $0.isOver } })
      }
    }
    end()
    return nil
  }

  func nextNow() -> Change? { if case .change(let change) = look() { change } else { nil } }

  private enum Look {
    case change(Change)
    case nothing(ChangeFeed.Sight)
    case over
  }

  private func look() -> Look {
    state.withLock { state in
      // Looks inside the lock, because another loop may look at a newer sight and move the position.
      let sight = engine.changes.sight
      if state.isOver { return .over }
      if let failure = state.failure {
        state.isOver = true
        return .change(Change(.ended(failure)))
      }
      if sight.isClosed { return .over }
      let (ring, position) = (engine.changes.ring, sight.position)
      if sight.leaseExpirations != state.leaseExpirations || position.gaps != state.position.gaps
        || position.head < state.position.head
      {
        // The subscription continues here: after `missed` the subscriber reads the store again and sees all earlier changes.
        state.leaseExpirations = sight.leaseExpirations
        state.position = position
        return .change(Change(.missed(nil)))
      }
      while case let index = state.position.head, index < position.head {
        guard position.head - index <= UInt64(ring.slots), let record = ring.read(index) else {
          // The skipped changes are already overwritten, or will be soon, so the subscription continues at the head.
          let head = ring.head
          state.position.head = head
          return .change(Change(.missed(Int(clamping: head >= index ? head - index : 0))))
        }
        state.position.head += 1
        if filter.map({ record.concerns($0) }) ?? true { return .change(record.change) }
      }
      if sight.health != state.health {
        state.health = sight.health
        return .change(Change(.health(sight.health)))
      }
      return .nothing(sight)
    }
  }
}

extension StoreEngine {
  /// Begins a subscription. The first subscription of a store makes one commit, after which all writers look for subscriptions.
  fileprivate func beginSubscription(
    mayWrite: Bool
  ) throws(LarderError) -> (position: ChangeRing.Position, leaseExpirations: Int) {
    let isKnown = try typed { try environment.beginRead().state(seal)?.watched != 0 }
    if !isKnown {
      guard mayWrite else {
        throw LarderError(
          .readOnly,
          "\(environment.path) has never had a subscription, and this handle may not prepare it",
          hint: "subscribe once through a handle that may write")
      }
      guard !environment.isWriting else {
        throw LarderError(
          .invalidArgument, "a subscription cannot begin inside a write", hint: "begin it before")
      }
      try commit { batch in batch.session.ledger.updateStore { $0.watched = 1 } }
    }
    defer { reader.buffer?.awaitAppend() }
    guard let entered = changes.enter() else {
      let failure = changes.ring.words.failure
      throw LarderError(
        failure, path: environment.path + "/changes", details: environment.details(of: failure))
    }
    return entered
  }
}
