import LMDB
import LarderSystem
import Synchronization

final class Subscription: Sendable {
  private let engine: StoreEngine
  private let filter: [UInt8]?
  private let state: Mutex<State>

  private struct State {
    /// The sight up to which changes were delivered. Its health is not used.
    var seen = ChangeFeed.Sight()
    var health = StoreHealth.healthy
    var failure: LarderError?
    var isOver = false
  }

  init(_ store: Store, only namespace: String?) {
    engine = store.engine
    filter = namespace.map { Array($0.utf8) }
    var state = State()
    do throws(LarderError) {
      state.seen = try store.engine.beginSubscription(mayWrite: !store.isReadOnly)
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
      // Looks inside the lock, because another loop may look at a newer sight and move the seen head.
      let sight = engine.changes.sight
      if state.isOver { return .over }
      if let failure = state.failure {
        state.isOver = true
        return .change(Change(.ended(failure)))
      }
      if sight.isClosed { return .over }
      let ring = engine.changes.ring
      if sight.leaseExpirations != state.seen.leaseExpirations || sight.gaps != state.seen.gaps
        || sight.head < state.seen.head
      {
        // The subscription continues here: after `missed` the subscriber reads the store again and sees all earlier changes.
        state.seen = sight
        return .change(Change(.missed(nil)))
      }
      while case let index = state.seen.head, index < sight.head {
        guard sight.head - index <= UInt64(ring.slots), let record = ring.read(index) else {
          // The skipped changes are already overwritten, or will be soon, so the subscription continues at the head.
          let head = ring.head
          state.seen.head = head
          return .change(Change(.missed(Int(clamping: head >= index ? head - index : 0))))
        }
        state.seen.head += 1
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
  fileprivate func beginSubscription(mayWrite: Bool) throws(LarderError) -> ChangeFeed.Sight {
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
