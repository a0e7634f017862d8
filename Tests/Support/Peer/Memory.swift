import Foundation
import Larder
import TestSupport

extension Peer {
  /// Counts from 1. Writes each number to one of eight keys, but clears or renames the namespace at every hundredth number. A
  /// file has the last committed number. Short pauses let readers find both a store that changes and a store that does not.
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
}
