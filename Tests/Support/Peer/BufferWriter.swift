import Dispatch
import Foundation
import Larder
import Synchronization
import TestSupport

extension Peer {
  /// Sets numbers through the write buffer, one after the other, until the process is killed. Prints each number after the set.
  /// Of every four numbers, the first also sets the key `sometimes`, and the third also removes this key.
  ///
  /// Arguments: a number for the namespace, the size of the buffer, a seed.
  func writeBuffered() throws {
    let options = with(Store.Options()) { $0.writeBuffer = argument(1) }
    let opened = try Store(at: store, options: options)
    let numbers = opened.namespace("numbers-\(argument(0))")
    var random = SeededRNG(seed: UInt64(argument(2)))
    Peer.say("open")
    var number = 0
    while true {
      number += 1
      let key = number % BufferedNumber.keys
      let value = BufferedNumber.value(number, count: .random(in: 0..<2000, using: &random))
      switch Int.random(in: 0..<200, using: &random) {
      case 0: try opened.write { batch in try batch.set(value, for: key, in: numbers) }
      case 1:
        try numbers.set(value, for: key)
        _ = try numbers.count()
      case 2:
        try numbers.set(value, for: "other")
        try numbers.remove("other")
        try numbers.set(value, for: key)
      case 3:
        let others = opened.namespace("others-\(argument(0))")
        try others.set(value, for: key, .with(tags: ["tag"]))
        try opened.invalidate(tag: "tag")
        try others.clear()
        try numbers.scan { _, _ in true }
        try numbers.set(value, for: key)
      default: try numbers.set(value, for: key)
      }
      if number % 4 == 1 { try numbers.set(value, for: "sometimes") }
      if number % 4 == 3 { try numbers.remove("sometimes") }
      Peer.say("\(number)")
    }
  }

  /// Puts an entry into the write buffer. After a line of input, a pop commits the entry while another thread writes it again.
  func popBuffered() throws {
    // The interval is so long that the timer does not commit the record before the pop.
    let threads = DispatchGroup()
    let beside = Mutex<Store.Namespace?>(nil)
    let options = with(Store.Options(checkpointInterval: .seconds(3600))) {
      $0.writeBuffer = 256 << 10
      $0.hooks.besideCommit = {
        guard let notes = beside.withLock({ $0.take() }) else { return }
        DispatchQueue.global().async(group: threads) { try! notes.set("beside", for: "popped") }
        threads.wait()
      }
    }
    let opened = try Store(at: store, options: options)
    let notes = opened.namespace("notes")
    for _ in 0..<2 { try notes.set("data", for: "popped") }
    try notes.set("record", for: "popped")
    beside.withLock { $0 = notes }
    waitForInput(saying: "buffered")
    _ = try notes.pop("popped") as [UInt8]?
    Peer.say("done")
  }

  /// Prints the outcomes of calls while the disk refuses the pages of a background commit, and afterwards.
  ///
  /// Arguments: the number of the error, and the file that makes `PowerRecorder` refuse writes.
  func refuseBufferCommit() throws {
    let commit = Mutex<(@Sendable () -> Void)?>(nil)
    let options = with(Store.Options(checkpointInterval: .seconds(3600))) {
      $0.writeBuffer = 256 << 10
      $0.hooks.timer = { _, body in commit.withLock { $0 = body } }
    }
    let opened = try Store(at: store, options: options)
    let notes = opened.namespace("notes")
    for value in ["data", "data", "record"] { try notes.set(value, for: "k") }
    let refusal = value(1) { $0 }
    try Data(value(0) { $0 }.utf8).write(to: URL(fileURLWithPath: refusal))
    commit.withLock { $0 }?()
    for word in ["broken", "mended"] {
      say("get") { () throws(LarderError) in try notes.value(for: "k") }
      say("set") { () throws(LarderError) in
        try notes.set(word, for: "other")
        return try notes.value(for: "other")
      }
      say("count") { () throws(LarderError) in "\(try notes.count())" }
      try? FileManager.default.removeItem(atPath: refusal)
    }
    try opened.close()
  }

  private func say(_ word: String, _ call: () throws(LarderError) -> String?) {
    do throws(LarderError) { Peer.say("\(word) \(try call() ?? "nothing")") } catch {
      Peer.say("\(word) \(error.code)")
    }
  }
}

/// The value of an entry: a number, and then bytes that depend only on this number.
package enum BufferedNumber {
  package static let keys = 37

  package static func value(_ number: Int, count: Int) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
  }

  package static func number(_ value: [UInt8]) -> Int? {
    guard let end = value.firstIndex(of: 32),
      let number = Int(String(decoding: value[..<end], as: UTF8.self)),
      value[(end + 1)...].allSatisfy({ $0 == UInt8(truncatingIfNeeded: number) })
    else { return nil }
    return number
  }
}
