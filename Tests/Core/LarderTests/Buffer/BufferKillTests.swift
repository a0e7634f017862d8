import LarderPeer
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

/// Kills processes that write through the buffer, at random times and at each numbered point in the code of the buffer.
///
/// The tests run one after the other, because a test that waits for a process blocks a thread that other tests need.
@Suite(.serialized) struct BufferKillTests {
  @Test func `a killed process loses no answered set, and readers never go back`() throws {
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<3 * TestSettings.trials {
      let ends = (0..<2).map { _ in Int.random(in: 1...2000, using: &random) }
      try kill(ends, [], &random)
    }
  }

  #if DEBUG || KILL_POINTS
    // Only debug builds and the builds of `Scripts/trials` have kill points, so other builds omit these tests.
    @Test(arguments: 1...21)
    func `a process that dies at a point of the buffer loses nothing`(point: Int) throws {
      var random = SeededRNG(seed: TestSettings.seed &+ UInt64(point))
      // Of six successive appends at least one is a removal. At these points a removal may give room without its record.
      let isRemoval = [3, 5].contains(point)
      for trial in 0..<(isRemoval ? 6 : 2) * TestSettings.trials {
        let count =
          isRemoval ? 30 + trial : Int.random(in: 1...(point < 7 ? 300 : 12), using: &random)
        let kills = ["LARDER_KILL_POINT=\(point):\(count)"]
        try kill([.max, 400], kills, checksRoom: isRemoval, &random)
      }
    }

    @Test(arguments: [9, 10, 11, 12])
    func `a record does not undo the transaction that came behind it`(point: Int) throws {
      var isKilled = false
      // The opening and the first writes also pass the kill point, so the loop raises the count until the pop is killed.
      for count in 1...10 where !isKilled {
        try withStoreOnDisk(BufferedStore.options()) { store, _ in
          let writer = try PeerProcess(
            "pop-buffered", store.path, under: ["LARDER_KILL_POINT=\(point):\(count)"])
          let isBuffered = writer.line() == "buffered"
          if isBuffered { try writer.tell("pop") }
          isKilled = isBuffered && writer.line() == nil
          writer.kill()
          if isKilled {
            let notes = store.namespace("notes")
            for _ in 0..<2 {
              #expect(try notes.text("popped") == nil)
              try notes.set("later", for: "other")
            }
          }
        }
      }
      #expect(isKilled)
    }

    @Test func `no process appends between the commit of the records and a batch`() throws {
      try withStoreOnDisk(BufferedStore.options()) { store, _ in
        let writer = try PeerProcess(
          "buffered", store.path, ["0", "262144", "1"], under: ["LARDER_KILL_POINT=15:1"])
        while writer.line() != nil {}
        #expect(try #require(store.engine.reader.buffer).state.isFrozen)
        writer.kill()
      }
    }
  #endif

  /// Runs two writers. Each writer is killed after its number of sets in `ends`, or dies earlier at a kill point.
  private func kill(
    _ ends: [Int], _ environment: [String], checksRoom: Bool = false, _ random: inout SeededRNG
  ) throws {
    try withTemporaryDirectory { path in
      let options = with(Store.Options()) { $0.writeBuffer = 256 << 10 }
      let store = try Store(at: path + "/s", options: options)
      for index in ends.indices {
        try store.declare(Rules(limits: Limits(entries: 1000)), for: "numbers-\(index)")
      }
      // The first write of a process after a declaration uses no buffer. A write after a kill must find the buffer as it was then.
      for index in ends.indices {
        for _ in 0..<2 { try store.namespace("numbers-\(index)").set([1], for: "last") }
      }
      let writers = try ends.indices.map { index in
        try PeerProcess(
          "buffered", store.path,
          ["\(index)", "262144", "\(Int.random(in: 0..<1 << 30, using: &random))"],
          under: index == 0 ? environment : [])
      }
      for writer in writers { #expect(writer.line() == "open") }
      var said = ends.map { _ in 0 }
      for (index, writer) in writers.enumerated() {
        while said[index] < ends[index], let line = writer.line() {
          said[index] = try #require(Int(line))
          if said[index] % 50 == 0 { try check(store, index, said[index]) }
        }
        writer.kill()
        // `checkRoom` commits the records. In other rounds, a set gets its version from the killed process's counters.
        if checksRoom {
          try checkRoom(store, index)
        } else {
          try store.namespace("numbers-\(index)").set([1], for: "first")
        }
        while let line = writer.line() { said[index] = Int(line) ?? said[index] }
        try check(store, index, said[index])
        try checkRemoval(store, index, said[index])
      }
      try store.namespace("numbers-0").set([1], for: "last")
      for index in ends.indices { try check(store, index, said[index]) }
      try store.verifyAndClose("seed \(TestSettings.seed)")
      let again = try Store(at: path + "/s")
      for index in ends.indices {
        try check(again, index, said[index])
        let numbers = again.namespace("numbers-\(index)")
        let versions = try numbers.keys().map { try numbers.entry(for: $0)?.version }
        #expect(Set(versions).count == versions.count, "seed \(TestSettings.seed)")
      }
      try again.close()
    }
  }

  /// Expects that the free room in the buffer does not include the room of a removal whose record is missing.
  private func checkRoom(_ store: Store, _ index: Int) throws {
    let numbers = store.namespace("numbers-\(index)")
    let (buffer, table) = (store.engine.reader.buffer!, store.engine.reader.buffer!.table)
    let id = numbers.handle.known.withLock { $0?.namespace.id }
    let room = id.flatMap { buffer.slot(of: $0, table.view)?.slot?.room.entries } ?? 0
    #expect(try room <= 1000 - numbers.count(), "seed \(TestSettings.seed)")
  }

  /// Expects that the last answered change of the key `sometimes` is still there. The writer sets and removes this key.
  private func checkRemoval(_ store: Store, _ index: Int, _ said: Int) throws {
    let value: [UInt8]? = try store.namespace("numbers-\(index)").value(for: "sometimes")
    if said % 4 == 1 {
      #expect(value.flatMap { BufferedNumber.number($0) } == said, "seed \(TestSettings.seed)")
    }
    if said % 4 == 3 { #expect(value == nil, "\(said), seed \(TestSettings.seed)") }
  }

  /// The writer has answered all numbers up to `said`, so the key of each number must have this number or a later number.
  private func check(_ store: Store, _ index: Int, _ said: Int) throws {
    let numbers = store.namespace("numbers-\(index)")
    for number in max(1, said - BufferedNumber.keys + 1)..<said + 1 {
      let key = number % BufferedNumber.keys
      let value: [UInt8]? = try numbers.value(for: key)
      let found = value.flatMap { BufferedNumber.number($0) } ?? 0
      #expect(
        found >= number && found % BufferedNumber.keys == key,
        "\(found) in place of \(number), \(said) were answered, seed \(TestSettings.seed)")
    }
  }
}
