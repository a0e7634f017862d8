import CLarderSystem
import Synchronization

/// Lets a test kill the process: `LARDER_KILL_POINT=4:17` kills the process when it passes point 4 for the 17th time.
package enum KillPoint {
  #if DEBUG || KILL_POINTS
    private static let chosen: (point: Int, count: Int) = {
      guard let text = environmentVariable("LARDER_KILL_POINT") else { return (0, 0) }
      let words = text.split(separator: ":").compactMap { Int($0) }
      return words.count == 2 ? (words[0], words[1]) : (0, 0)
    }()
    private static let passed = Atomic(0)

    package static func pass(_ point: Int) {
      guard chosen.point == point else { return }
      if passed.add(1, ordering: .relaxed).newValue == chosen.count { kill(getpid(), SIGKILL) }
    }
  #else
    @inlinable @inline(__always)
    package static func pass(_ point: Int) {}
  #endif
}
