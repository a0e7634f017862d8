import Foundation
import TestSupport
import Testing

@testable import Larder

/// Stores whose single writes are appended to the write buffer.
enum BufferedStore {
  static func options(
    _ size: Int = 256 << 10, _ durability: Durability? = nil, readOnly: Bool = false
  ) -> Store.Options {
    var options = Store.Options(
      readOnly: readOnly, durability: durability, checkpointInterval: .seconds(3600))
    options.writeBuffer = size
    return options
  }

  /// Calls `body` with a store that knows the namespace `notes`, so the next `set` is appended to the write buffer.
  static func with(_ body: (Store, Store.Namespace) throws -> Void) throws {
    try withStoreOnDisk(options()) { store, notes in
      // The first commit makes the namespace. The second commit makes the rules known, too, so later sets use the buffer.
      for _ in 0..<2 { try notes.set("first", for: "first") }
      try body(store, notes)
    }
  }

  /// Kills a process that has made and written a store, so the buffer keeps entries. Returns the last answered number. If
  /// `point` is given, the process dies at this kill point of the code.
  @discardableResult
  static func leaveByKill(_ path: String, at point: Int? = nil) throws -> Int {
    let writer = try PeerProcess(
      "buffered", path, ["0", "262144", "7"],
      under: point.map { ["LARDER_KILL_POINT=\($0):1"] } ?? [], saying: "open")
    if point == nil {
      for _ in 0..<20 { _ = writer.line() }
      writer.kill()
    }
    return writer.lines().compactMap { Int($0) }.last ?? 20
  }
}
