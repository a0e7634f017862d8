import Foundation
import Larder
import TestSupport

extension Peer {
  /// Does one operation on a store, and prints the outcome of each step in the words of the library. Usage:
  /// `operate STORE write|read|compact|copy|checkpoint`.
  func operate() throws {
    switch value(0, { $0 }) {
    case "write":
      step("open") { store throws(LarderError) in
        let notes = store.namespace("notes")
        try notes.set([UInt8](repeating: 1, count: 30_000), for: "large")
        try notes.set("v", for: "k")
        try store.sync()
        try store.close()
      }
    case "read":
      step("read") { store throws(LarderError) in
        _ = try store.namespace("notes").count()
        let _: String? = try store.namespace("notes").value(for: "k")
      }
    case "checkpoint":
      // From `break` on, the disk accepts no bytes for the data file, so the later steps fail.
      step("open") { store throws(LarderError) in
        let notes = store.namespace("notes")
        try notes.set("v", for: "k")
        say("break") { () throws(LarderError) in try! Self.breakDisk() }
        say("sync") { () throws(LarderError) in try store.sync() }
        say("set") { () throws(LarderError) in try notes.set("w", for: "k") }
        say("get") { () throws(LarderError) in
          let _: String? = try notes.value(for: "k")
        }
      }
    case "compact":
      say("compact") { () throws(LarderError) in
        _ = try Store.compact(at: store, options: Self.hasty)
      }
    default:
      step("copy") { store throws(LarderError) in
        _ = try store.copyCompacted(to: self.store + ".copy")
      }
    }
  }

  private static var hasty: Store.Options { Store.Options(lockTimeout: .milliseconds(200)) }

  private func step(_ what: String, _ body: (Store) throws(LarderError) -> Void) {
    say(what) { () throws(LarderError) in try body(Store(at: store, options: Self.hasty)) }
  }

  /// Prints `done`, or the code, the message and the remedy of an error.
  private func say(_ what: String, _ body: () throws(LarderError) -> Void) {
    do throws(LarderError) {
      try body()
      Peer.say("\(what) done")
    } catch {
      Peer.say("\(what) \(error.code.rawValue): \(error.message) | \(error.hint ?? "no remedy")")
    }
  }
}
