import CLarderSystem
import LarderSystem
import Synchronization

/// Tells a writer whether it must compare the open files with those at the environment's path.
///
/// The system changes the time of a directory's last change whenever one of its files is created, removed or renamed, and
/// when the directory itself is. As long as that time is the one of the last comparison, the comparison still holds, and
/// a write needs one system call in place of four. A directory above the environment may be renamed without a trace in
/// it: each comparison holds for ``longestTrust`` at most.
package final class DirectoryStamp: Sendable {
  /// How long a comparison holds, in milliseconds.
  package static let longestTrust: Int64 = 100
  /// A directory that changed less than so many milliseconds ago can change again without another time: the clock of a
  /// file system advances every 1 to 10 ms.
  package static let clockStep: Int64 = 50

  /// The time of a directory's last change, since 1970.
  package struct Change: Equatable, Sendable {
    package var seconds: Int64
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64) {
      (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    init(_ directory: stat) {
      #if canImport(Darwin)
        let time = directory.st_ctimespec
      #else
        let time = directory.st_ctim
      #endif
      self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// Whether a later change has another time. A file system without fractions of seconds gives no such certainty.
    func isSettled(at wall: Int64) -> Bool {
      nanoseconds != 0 && wall - (seconds &* 1000 &+ nanoseconds / 1_000_000) > clockStep
    }
  }

  /// Milliseconds of the monotonic clock and since 1970.
  package struct Times: Sendable {
    package var monotonic: Int64
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
      (self.monotonic, self.wall) = (monotonic, wall)
    }

    static var now: Times {
      Times(
        monotonic: SystemTime.coarseMonotonicMilliseconds, wall: SystemTime.coarseMilliseconds)
    }
  }

  private let compared = Mutex<(change: Change, at: Int64)?>(nil)

  package init() {}

  /// Runs `compare` unless its last success still holds.
  ///
  /// - Parameter change: the directory's present one; nil if the system does not tell it.
  /// - Returns: whether the files are those at the path.
  package func check(
    _ change: Change?, at now: Times, _ compare: () throws -> Bool
  ) rethrows -> Bool {
    try compared.withLock { compared in
      if let change, let last = compared, last.change == change,
        now.monotonic - last.at < Self.longestTrust
      {
        return true
      }
      compared = nil
      guard try compare() else { return false }
      // `change` was read before the comparison, so a change during it shows at the next write.
      if let change, change.isSettled(at: now.wall) { compared = (change, now.monotonic) }
      return true
    }
  }
}
