import LMDB
import Synchronization

/// One watcher: where it is in the ring, and what it wants to see of it.
final class Subscription: Sendable {
  private let engine: StoreEngine
  /// The name of a namespace; nil for all.
  private let filter: [UInt8]?
  private let state: Mutex<State>

  private struct State {
    var place: UInt64 = 0
    var gaps: UInt64 = 0
    var leaseExpirations = 0
    var isEntered = false
    /// Why there is nothing to watch, until that was said.
    var failure: LarderError?
    var isOver = false
  }

  init(_ store: Store, only namespace: String?) {
    engine = store.engine
    filter = namespace.map { Array($0.utf8) }
    var state = State()
    do throws(LarderError) {
      let entered = try store.engine.beginWatch(mayWrite: !store.isReadOnly)
      state.place = entered.mark.head
      state.gaps = entered.mark.gaps
      state.leaseExpirations = entered.leaseExpirations
      state.isEntered = true
    } catch {
      state.failure = error
    }
    self.state = Mutex(state)
  }

  deinit { end() }

  func end() {
    let wasEntered = state.withLock { state in
      defer { state.isEntered = false }
      state.isOver = true
      return state.isEntered
    }
    if wasEntered { engine.changes.leave() }
  }

  func next() async -> Change? {
    while true {
      if Task.isCancelled {
        end()
        return nil
      }
      switch look() {
      case .change(let change): return change
      case .over:
        end()
        return nil
      case .nothing(let mark): await engine.changes.sleep(at: mark)
      }
    }
  }

  func nextNow() -> Change? {
    if case .change(let change) = look() { change } else { nil }
  }

  private enum Look {
    case change(Change)
    case nothing(ChangeRing.AccessStats)
    case over
  }

  private func look() -> Look {
    let (leaseExpirations, isClosed) = (engine.changes.leaseExpirations, engine.changes.isClosed)
    return state.withLock { state in
      if state.isOver { return .over }
      if let failure = state.failure {
        state.isOver = true
        return .change(Change(.ended(failure)))
      }
      if isClosed { return .over }
      let ring = engine.changes.ring
      let mark = ring.mark
      if leaseExpirations != state.leaseExpirations || mark.gaps != state.gaps
        || mark.head < state.place
      {
        // What is published already is in what is read of the store from now on; shown later it would be old.
        state.leaseExpirations = leaseExpirations
        state.gaps = mark.gaps
        state.place = mark.head
        return .change(Change(.missed(nil)))
      }
      while state.place < mark.head {
        guard mark.head - state.place <= UInt64(ring.slots), let record = ring.read(state.place)
        else {
          return .change(Change(.missed(skip(&state, ring))))
        }
        state.place += 1
        if filter.map({ record.concerns($0) }) ?? true { return .change(record.change) }
      }
      return .nothing(mark)
    }
  }

  /// Goes on at the head: what was overtaken is gone, and what is left of it would be overtaken soon.
  private func skip(_ state: inout State, _ ring: ChangeRing) -> Int {
    let head = ring.head
    defer { state.place = head }
    return Int(head - state.place)
  }
}

extension StoreEngine {
  /// Sees to it that writers look for watchers, and begins a watch.
  fileprivate func beginWatch(
    mayWrite: Bool
  ) throws(LarderError) -> (mark: ChangeRing.AccessStats, leaseExpirations: Int) {
    let isKnown: Bool
    do throws(LMDBError) {
      isKnown = try environment.beginRead().state().watched != 0
    } catch {
      throw self.error(error)
    }
    if !isKnown {
      guard mayWrite else {
        throw LarderError(
          .readOnly, "\(environment.path) was never watched, and this handle may not prepare it",
          hint: "watch it once through a handle that may write")
      }
      guard !environment.isWriting else {
        throw LarderError(
          .invalidArgument, "a watch cannot begin inside a write", hint: "begin it before")
      }
      try write { batch in batch.state.watched = 1 }
    }
    guard let entered = changes.enter() else {
      throw LarderError(
        .failed, "the file \(environment.path)/changes cannot be made or mapped",
        hint: "see that there is room for it on the disk")
    }
    return entered
  }
}
