import LMDB
import LarderPeer
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// Stores whose single writes are appended to the write buffer.
enum BufferedStore {
  static func options(_ size: Int = 256 << 10, readOnly: Bool = false) -> Store.Options {
    TestSupport.with(Store.Options(readOnly: readOnly, checkpointInterval: .seconds(3600))) {
      $0.writeBuffer = size
    }
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
  @discardableResult static func leaveByKill(_ path: String, at point: Int? = nil) throws -> Int {
    let writer = try PeerProcess(
      "buffered", path, ["0", "262144", "7"],
      under: ["LARDER_KILL_POINT=" + (point.map { "\($0):1" } ?? "6:40")], saying: "open")
    if point == nil {
      // The kill point does not exist in a release build.
      for _ in 0..<20 { _ = writer.line() }
      writer.kill()
    }
    return writer.lines().compactMap { Int($0) }.last ?? 20
  }

  /// Damages the record of a namespace whose key `k` then has a record in the buffer. Returns the bytes of the sound record.
  static func damage(_ namespace: Store.Namespace) throws -> [UInt8] {
    let (store, key) = (namespace.store, MetadataKey.namespace(namespace.name))
    // After this read, the writes to the namespace need not read the damaged record.
    _ = try namespace.bytes("k")
    let sound = try store.write { batch in
      try batch.set([1], for: "k", in: namespace)
      let sound = try batch.session.transaction.copy(of: key, in: .main)
      try batch.session.transaction.put([1, 2, 3], for: key, in: .main)
      return try #require(sound)
    }
    try namespace.set("record", for: "k")
    #expect(store.engine.reader.buffer?.hasRecords == true)
    // A process that opens the store now does not know the namespace.
    store.engine.handle(for: namespace.name).known.withLock { $0 = nil }
    return sound
  }

  /// The number that the store has under the key of the number `last`; 0 if there is none.
  static func number(at last: Int, in store: Store) throws -> Int {
    let value = try store.namespace("numbers-0").bytes(last % BufferedNumber.keys)
    return value.flatMap { BufferedNumber.number($0) } ?? 0
  }
}
