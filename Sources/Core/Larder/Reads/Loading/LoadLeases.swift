import Synchronization

/// The right to load one key. While a process has this right, other processes of the machine wait for the load.
struct LoadLease: Sendable {
  fileprivate let leases: LoadLeases
  fileprivate let place: Int
  fileprivate let number: UInt64

  /// Lets other processes load the key. Called after the commit of the outcome, or if there is no outcome to commit.
  func end() {
    leases.state.withLock { state in
      guard let held = state.held[place], held.number == number else { return }
      state.held[place] = nil
      _ = leases.table.replace(held.word, by: 0, at: place)
    }
  }
}

/// The leases of this process on loads of a store, and the task that renews the leases. A lease ends with its load, or after
/// ``longest`` if the load takes longer. If the process is killed, the lease ends ``LeaseTable/length`` after its last renewal.
/// Leases only avoid repeated loads: two processes may load one key without harm.
final class LoadLeases: Sendable {
  /// The time in milliseconds for which a lease is renewed, and for which other processes wait for the load.
  static let longest: Int64 = 60_000
  private static let renewal = Duration.milliseconds(LeaseTable.length / 3)

  fileprivate struct Held {
    var word: UInt64
    var hash: UInt64
    var number: UInt64
    /// The lease is renewed only before this time.
    var last: Int64
  }

  fileprivate struct State {
    var held: [Int: Held] = [:]
    var number: UInt64 = 0
    var isRenewing = false
  }

  let table: LeaseTable
  fileprivate let state = Mutex(State())
  /// The machine's monotonic clock in milliseconds. Not the store's clock, which tests set differently in each process.
  let now: @Sendable () -> Int64
  /// The time until which this process uses no leases, because the file could not be mapped.
  private let pauseEnd = Atomic(Int64.min)
  /// The time in milliseconds for which this process uses no leases after a failure to map the file.
  static let pause: Int64 = 10_000

  init(table: LeaseTable, machine: @escaping @Sendable () -> Int64) {
    self.table = table
    now = machine
  }

  /// `isHeld`: whether another process has the lease.
  typealias Attempt = (lease: LoadLease?, isHeld: Bool)

  func take(_ hash: UInt64) -> Attempt {
    guard now() >= pauseEnd.load(ordering: .relaxed) else { return (nil, false) }
    guard table.open() else {
      pauseEnd.store(now() + Self.pause, ordering: .relaxed)
      return (nil, false)
    }
    let place = LeaseTable.place(of: hash)
    return state.withLock { state -> Attempt in
      let now = now()
      // A load of another type, or a load that is not shared, has the lease in this process. This load runs without the lease.
      if state.held[place]?.hash == hash, table.standing(hash, at: now) == .held {
        return (nil, false)
      }
      guard let word = table.take(hash, at: now) else {
        return (nil, table.standing(hash, at: now) != .unavailable)
      }
      state.number += 1
      state.held[place] = Held(
        word: word, hash: hash, number: state.number, last: now + Self.longest)
      if !state.isRenewing {
        state.isRenewing = true
        Task.detached(priority: .utility) { [weak self] in
          // Nobody cancels this task, so the sleep throws no error.
          repeat { try? await Task.sleep(for: Self.renewal) } while self?.renew() ?? false
        }
      }
      return (LoadLease(leases: self, place: place, number: state.number), false)
    }
  }

  /// Tries to take the lease for a load that has waited. If the holder ended the lease but stored no usable value, all waiting
  /// loads run without a lease. Otherwise these loads would run one after another, which takes long if the origin fails slowly.
  func takeAfterWait(_ hash: UInt64) -> Attempt {
    switch table.standing(hash, at: now()) {
    case .held: (nil, true)
    case .lapsed: take(hash)
    case .free, .unavailable: (nil, false)
    }
  }

  /// Extends the held leases, except leases of loads that have run for ``longest``. Returns false if this process has no lease.
  @discardableResult
  func renew() -> Bool {
    state.withLock { state in
      let now = now()
      for (place, held) in state.held {
        let word = LeaseTable.word(held.hash, until: now + LeaseTable.length)
        if now < held.last, table.replace(held.word, by: word, at: place) {
          state.held[place]?.word = word
        } else {
          state.held[place] = nil
        }
      }
      state.isRenewing = !state.held.isEmpty
      return state.isRenewing
    }
  }
}
