import Foundation
import Larder
import TestSupport

extension Peer {
  /// Opens the store and says how that went.
  func openStore() throws {
    do throws(LarderError) {
      let opened = try Store(at: store)
      try opened.close()
      Peer.say("opened")
    } catch {
      Peer.say("refused \(error.code.rawValue)")
    }
  }

  /// Reads a namespace again and again while another process clears and renames it.
  ///
  /// Values are the number of the round that wrote them. A file holds the number of the last round whose values are
  /// gone, so a value with a number up to the one read there just before is an old one.
  func readGenerations() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: store + ".generation"))
    Peer.say("open")
    var (old, hits) = (0, 0)
    for read in 0..<argument(0) {
      try file.seek(toOffset: 0)
      let generation = try file.read(upToCount: 8).flatMap {
        Int(String(decoding: $0, as: UTF8.self))
      }
      guard let value: String = try notes.value(for: read % 10) else { continue }
      hits += 1
      if Int(value)! <= generation! { old += 1 }
    }
    Peer.say("old \(old)")
    Peer.say("hits \(hits)")
    try opened.close()
  }

  /// Meets expired entries, and has them removed, until the input ends.
  func removeExpired() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    Peer.say("open")
    let end = Thread { readToEnd() }
    end.start()
    while !end.isFinished {
      for key in 0..<4 {
        let _: String? = try notes.value(for: key)
      }
      _ = try notes.count()
      try opened.purge()
    }
    try opened.close()
    Peer.say("closed")
  }

  /// Reads as many entries as it is told, and says how many there are; on and on if it is told to.
  func useEntries() throws {
    let opened = try Store(at: store)
    let notes = opened.namespace("notes")
    func use() throws -> Int {
      try (0..<argument(0)).filter {
        try notes.contains("\($0)") && notes.value(for: "\($0)") == "v"
      }
      .count
    }
    Peer.say("\(try use())")
    let end = Thread { readToEnd() }
    end.start()
    while !end.isFinished {
      if arguments.count > 1 { Peer.say("\(try use())") } else { usleep(500) }
    }
    try opened.close()
  }

  /// Writes as many entries as it is told, each twice, and removes every tenth.
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

  /// Does everything that changes a store, without a pause, until it is killed.
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

  private func readToEnd() {
    while readLine() != nil {}
  }
}
