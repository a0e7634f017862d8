import Foundation
package import LMDB
package import LarderSystem

package enum SharedWords {
  package static let store = [UInt8](0..<16)

  /// The words of the file `access`. The number of words may be any multiple of 64.
  package static func of(
    _ environment: Environment, layout: UInt32 = 1, store: [UInt8] = store
  ) -> SharedTable {
    SharedTable(.access, layout: layout, store: store, of: environment) { $0 % 64 == 0 }
  }
}

extension SharedTable {
  package var values: [UInt32] {
    let view = view
    return (0..<view.count).map { view[$0] }
  }

  package var count: Int { view.count }
  package var isWritable: Bool { view.isWritable }
  package func value(_ index: Int) -> UInt32 { view[index] }

  package func increase() {
    let view = view
    var seen = view.wide(3)
    while !view.exchange(seen, for: seen + 1, at: 3) { seen = view.wide(3) }
  }

  package func set(_ index: Int, _ value: UInt32) { view[index] = value }
}

extension Peer {
  func shareWords() throws {
    let environment = try Fixture.open(store)
    let words = SharedWords.of(environment)
    Peer.say("open")
    while let line = readLine() {
      let parts = line.split(separator: " ")
      let number = parts.count > 1 ? Int(parts[1])! : 0
      switch parts[0] {
      case "open": Peer.say("\(words.open(making: number)) \(words.count)")
      case "read": Peer.say("\(words.openForReading()) \(words.count)")
      case "get": Peer.say("\(words.value(number))")
      case "set":
        words.set(number, UInt32(parts[2])!)
        Peer.say("set")
      case "replace":
        let done = words.replace(count: number) { old, new in
          for index in 0..<min(old.count, new.count) { new[index] = old[index] &+ 1 }
        }
        Peer.say("\(done) \(words.count)")
      case "count":
        for _ in 0..<number { words.increase() }
        Peer.say("counted")
      case "files":
        let names = try FileManager.default.contentsOfDirectory(atPath: store)
        Peer.say("\(names.contains("access")) \(names.contains("access.new"))")
      case "store": Peer.say(Peer.outcome { try environment.set([1], [1]) })
      case "fork":
        let process = cFork()
        if process == 0 {
          Peer.say("child \(words.isWritable) \(words.openForReading())")
          _exit(0)
        }
        Self.waitForChild(process)
        Peer.say("parent \(words.isWritable)")
      default: preconditionFailure(line)
      }
    }
  }
}
