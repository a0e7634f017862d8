import Foundation
import Larder
import Synchronization
import TestSupport

extension Peer {
  func openStore() throws {
    do throws(LarderError) {
      try Store(at: store).close()
      Peer.say("opened")
    } catch { Peer.say("refused \(error.code.rawValue)") }
  }

  /// Reads as many entries as the first argument says, and prints how many exist. With a second argument, repeats both steps.
  func useEntries() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    func use() throws -> Int {
      try (0..<argument(0)).count {
        try notes.contains("\($0)") && notes.value(for: "\($0)") == "v"
      }
    }
    Peer.say("\(try use())")
    try untilEndOfInput {
      guard arguments.count > 1 else {
        usleep(500)
        return
      }
      Peer.say("\(try use())")
    }
    try opened.close()
  }

  /// Writes entries, each twice, and removes every tenth entry. Arguments: the first part of all keys, the number of entries.
  func writeEntries() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    for number in 0..<argument(1) {
      let key = "\(argument(0)) \(number)"
      try notes.set("first", for: key, expires: .after(.hours(1)))
      try notes.set("second \(key)", for: key, expires: .after(.hours(2)))
      if number % 10 == 0 { try notes.remove(key) }
      let _: String? = try notes.value(for: key)
    }
    try opened.close()
    Peer.say("written")
  }

  /// Makes every kind of change, one after the other, until the process is killed.
  func churn() throws {
    let opened = try Store(at: store)
    Peer.say("open")
    var number = 0
    while true {
      number += 1
      let notes = opened.namespace("notes-\(number % 3)")
      try opened.write { batch in
        for key in 0..<20 {
          let value = [UInt8](repeating: 1, count: (number * 37 + key * 911) % 9000)
          try batch.set(
            value, for: (number + key) % 50, in: notes, expires: .after(.milliseconds(key)))
        }
        try batch.remove(number % 50, from: notes)
      }
      if number % 7 == 0 { try notes.clear() }
      if number % 5 == 0 { try opened.purge() }
      if number == 20 { Peer.say("busy") }
    }
  }

  /// Makes a store. Before the store is complete, waits until the input ends.
  func makeStore() throws {
    do {
      try Store.making(at: store, Store.Options()) { made in
        try made.namespace("notes").set("half", for: "k")
        waitForEndOfInput(saying: "half")
      }
      Peer.say("made")
    } catch let error as LarderError { Peer.say("refused \(error.code.rawValue)") }
  }

  /// Subscribes to changes, but reads none of them, until the input ends.
  func watch() throws {
    let opened = try Store(at: store)
    let changes = opened.changes()
    waitForEndOfInput(saying: "watching")
    withExtendedLifetime(changes) {}
    try opened.close()
    Peer.say("closed")
  }

  /// Fills a store with small entries, with as few waits for the disk as possible. The argument is the number of entries.
  func fillLarge() throws {
    let options = with(Store.Options()) { $0.flushes = false }
    let opened = try Store(at: store, options: options)
    let large = opened.namespace("large")
    let count = argument(0)
    for start in stride(from: 0, to: count, by: 20_000) {
      try opened.write { batch in
        for number in start..<min(start + 20_000, count) {
          let digits = String(number)
          let key = "entry:" + String(repeating: "0", count: 9 - digits.count) + digits
          try batch.set(
            "{\"number\":\(number)}", for: key, in: large,
            expires: .after(.seconds(86_400 + number % 86_400)))
        }
      }
    }
    try opened.close()
    Peer.say("filled")
  }

  /// Counts from 1. Writes each number to one of eight keys, but clears or renames the namespace at every hundredth number. A
  /// file has the last committed number. Short pauses let readers also meet a store that does not change.
  func countUp() throws {
    let opened = try Store(at: store)
    let notes = opened.cache(of: Int.self, in: "notes", memory: MemoryLimits.off)
    let mark = try FileHandle(forWritingTo: URL(fileURLWithPath: store + ".mark"))
    Peer.say("open")
    var number = 0
    try untilEndOfInput {
      number += 1
      if number % 200 == 0 {
        try opened.rename("notes", to: "old-\(number)")
      } else if number % 100 == 0 {
        try notes.clear()
      } else {
        try notes.set(number, for: number % 8)
      }
      try mark.seek(toOffset: 0)
      try mark.write(contentsOf: Data(String(format: "%08d", number).utf8))
      if number % 16 == 0 { usleep(300) }
    }
  }

  /// Writes, removes and changes limits at random in the namespaces a, b and c. Arguments: the seed and the number of steps.
  func changeWithinLimits() throws {
    let opened = try Store(at: store)
    var random = SeededRNG(seed: value(0) { UInt64($0) })
    func roll(_ range: Range<Int>) -> Int { random.next(in: range) }
    Peer.say("open")
    var refused = 0
    for _ in 0..<argument(1) {
      let name = ["a", "b", "c"][roll(0..<3)]
      let notes = opened.namespace(name)
      do throws(any Error) {
        switch roll(0..<100) {
        case 0..<75:
          try notes.set([UInt8](repeating: 1, count: roll(0..<300)), for: "\(roll(0..<80))")
        case 75..<85: try notes.remove("\(roll(0..<80))")
        case 85..<92:
          try opened.declare(
            Rules(limits: Limits(entries: roll(3..<40), bytes: roll(300..<4000))), for: name)
        case 92..<95: try opened.declare(StoreLimits(entries: roll(10..<90)))
        default: try notes.clear()
        }
      } catch let error as LarderError where error.code == .full || error.code == .overLimit {
        refused += 1
      }
    }
    try opened.close()
    Peer.say("done \(refused)")
  }

  func holdMoment() throws {
    let opened = try Store(at: store)
    try opened.read { _ in waitForEndOfInput(saying: "holding") }
    try opened.close()
  }

  /// Reads three times from the store, makes a temporary store, and ends without closing the two stores.
  func keepStores() throws {
    let opened = try Store(at: store)
    let temporary = try Store.temporary()
    try temporary.namespace("notes").set("v", for: "k")
    for key in ["a", "b", "c"] { let _: String? = try opened.namespace("notes").value(for: key) }
    Self.kept.withLock { $0 = [opened, temporary] }
    Peer.say(temporary.path)
  }

  /// Writes entries. The arguments are the number of entries and the size of each value in bytes.
  func fillStore() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    for index in 0..<argument(0) {
      try notes.set([UInt8](repeating: 9, count: argument(1)), for: "peer \(index)")
    }
    try opened.close()
    Peer.say("done")
  }
}
