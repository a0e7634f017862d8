import Foundation
import Larder
import TestSupport

extension Peer {
  /// Writes the numbers from 1 on, each to one of eight keys, and every hundredth as a clear or as a rename. A file holds the
  /// last committed number. Pauses now and then, so that readers meet both a store that changes and a store at rest.
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
      let digits = String(number)
      try mark.seek(toOffset: 0)
      try mark.write(
        contentsOf: Data((String(repeating: "0", count: 8 - digits.count) + digits).utf8))
      if number % 16 == 0 { usleep(300) }
    }
  }

  /// Obeys each line of its input by the clock of the process that writes the line:
  /// `<milliseconds since 1970> set|touch|remove|clear|purge|limit <namespace> <key> <number> <lifetime>`.
  func obeyByTheClock() throws {
    let clock = ManualClock()
    var options = Store.Options()
    options.clock = clock
    let opened = try Store(at: store, options: options)
    Peer.say("open")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      clock.set(to: Timestamp(milliseconds: Int64(words[0])!))
      let notes = opened.namespace(words[2])
      let life = Expiration.after(.milliseconds(Int(words[5])!))
      switch words[1] {
      case "set": try notes.set(words[4], for: words[3], expires: life)
      case "touch": try notes.touch(words[3], expires: life)
      case "remove": try notes.remove(words[3])
      case "clear": try notes.clear()
      case "purge": try opened.purge()
      default: try opened.declare(StoreLimits(memory: Int(words[4])!))
      }
      Peer.say("done")
    }
    try opened.close()
    Peer.say("closed")
  }
}
