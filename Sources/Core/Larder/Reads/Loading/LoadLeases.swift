import LMDB
import LarderSystem
import Synchronization

/// A lease on the load of one key: other processes of the machine do not load the key, too.
struct LoadLease: Sendable {
  fileprivate let leases: LoadLeases
  fileprivate let place: Int
  fileprivate let number: UInt64

  /// Lets the other processes continue. A load calls this after the commit of its outcome, or if it has no outcome to commit.
  func end() { leases.end(self) }
}

/// The leases of this process on the loads of a store, and the task that renews them. A lease ends with its load,
/// ``LeaseTable/length`` after the last renewal if the process was killed, and after ``longest`` even if the load continues. A
/// lease only saves loads: no code depends on having one load at a time.
final class LoadLeases: Sendable {
  /// How long a lease covers a load, and how long other processes wait for the load, in milliseconds.
  static let longest: Int64 = 60_000
  private static let renewal = Duration.milliseconds(LeaseTable.length / 3)

  private struct Held {
    var word: UInt64
    var hash: UInt64
    var number: UInt64
    /// The time at which renewals stop.
    var last: Int64
  }

  private struct State {
    var held: [Int: Held] = [:]
    var number: UInt64 = 0
    var isRenewing = false
  }

  let table: LeaseTable
  private let state = Mutex(State())
  /// The machine's monotonic clock in milliseconds. All processes share it, unlike the store's clock, which tests move.
  private let machine: @Sendable () -> Int64
  /// The time until which this process uses no leases, because it could not map the file.
  private let pauseEnd = Atomic(Int64.min)
  /// How long this process uses no leases after it could not map the file, in milliseconds.
  static let pause: Int64 = 10_000

  init(table: LeaseTable, machine: @escaping @Sendable () -> Int64) {
    self.table = table
    self.machine = machine
  }

  var now: Int64 { machine() }

  struct Attempt {
    var lease: LoadLease?
    /// Whether another process has the lease.
    var isHeld = false
  }

  func take(_ hash: UInt64) -> Attempt {
    guard now >= pauseEnd.load(ordering: .relaxed) else { return Attempt() }
    guard table.open() else {
      pauseEnd.store(now + Self.pause, ordering: .relaxed)
      return Attempt()
    }
    let place = LeaseTable.place(of: hash)
    return state.withLock { state in
      let now = now
      // A load of another type, or a load that does not share its outcome, may run beside this load in this process.
      if let mine = state.held[place], mine.hash == hash,
        table.standing(hash, at: now) == .held
      {
        return Attempt()
      }
      guard let word = table.take(hash, at: now) else {
        let isHeld = ![.occupied, .unavailable].contains(table.standing(hash, at: now))
        return Attempt(isHeld: isHeld)
      }
      state.number += 1
      state.held[place] = Held(
        word: word, hash: hash, number: state.number, last: now + Self.longest)
      if !state.isRenewing {
        state.isRenewing = true
        beginRenewing()
      }
      return Attempt(lease: LoadLease(leases: self, place: place, number: state.number))
    }
  }

  /// Tries to take the lease on a key for a load that has waited. If a lease was ended without a usable value, all waiting
  /// loads run at once. Otherwise, with an origin that fails slowly, they would wait for one another in turn.
  func takeAfterWait(_ hash: UInt64) -> Attempt {
    switch table.standing(hash, at: now) {
    case .held: Attempt(isHeld: true)
    case .lapsed: take(hash)
    case .free, .occupied, .unavailable: Attempt()
    }
  }

  fileprivate func end(_ lease: LoadLease) {
    state.withLock { state in
      guard let held = state.held[lease.place], held.number == lease.number else { return }
      state.held[lease.place] = nil
      _ = table.replace(held.word, by: 0, at: lease.place)
    }
  }

  private func beginRenewing() {
    Task.detached(priority: .utility) { [weak self] in
      while self?.isHolding ?? false {
        do {
          try await Task.sleep(for: Self.renewal)
        } catch {
          return
        }
        self?.renew()
      }
    }
  }

  /// Whether leases are left to renew; if not, the task ends.
  private var isHolding: Bool {
    state.withLock { state in
      state.isRenewing = !state.held.isEmpty
      return state.isRenewing
    }
  }

  /// Extends the held leases, except the leases of loads that have run for ``longest``.
  func renew() {
    state.withLock { state in
      let now = now
      for (place, held) in state.held {
        let word = LeaseTable.word(held.hash, until: now + LeaseTable.length)
        if now < held.last, table.replace(held.word, by: word, at: place) {
          state.held[place]?.word = word
        } else {
          state.held[place] = nil
        }
      }
    }
  }
}
