import Foundation
import Larder
import TestSupport

extension Peer {
  /// Until the input ends, obeys the command on each line and answers `done`. Finally closes the store, except if a command
  /// `drop` has released the store. With the argument `manual`, the command `clock` sets the time of the store.
  func obey() throws {
    let clock = ManualClock()
    let options = arguments.first == "manual" ? Store.Options(clock: clock) : Store.Options()
    var opened: Store? = try Store(at: store, options: options)
    Peer.say("open")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      if words[0] == "drop" {
        opened = nil
      } else if words[0] == "clock" {
        clock.set(to: Timestamp(milliseconds: Int64(words[1])!))
      } else if let opened {
        try obey(words, opened)
      }
      Peer.say("done")
    }
    try opened?.close()
    Peer.say("closed")
  }

  func holdWrite() throws {
    try Store(at: store).write { _ in waitForEndOfInput(saying: "writing") }
    Peer.say("done")
  }

  private func obey(_ words: [String], _ store: Store) throws {
    let notes = store.namespace(words.count > 1 ? words[1] : "notes")
    switch words[0] {
    case "get": let _: String? = try notes.value(for: words[2])
    case "set": try notes.set([UInt8](repeating: 1, count: Int(words[3])!), for: words[2])
    case "text": try notes.set(words[3], for: words[2], expires: Self.life(words, 4))
    case "touch": try notes.touch(words[2], expires: Self.life(words, 3))
    case "purge": try store.purge()
    case "limit": try store.declare(StoreLimits(memory: Int(words[1])!))
    case "remove": try notes.remove(words[2])
    case "pop": let _: [UInt8]? = try notes.pop(words[2])
    case "prefix": try notes.remove(prefix: words[2])
    case "clear": try notes.clear()
    case "clear-all": try store.clear()
    case "rename": try store.rename(words[1], to: words[2])
    case "reset": try store.resetStatistics()
    case "invalidate": try store.invalidate(tag: words[2])
    default: preconditionFailure("an unknown command: \(words)")
    }
  }

  /// The lifetime that the word at `place` gives in milliseconds. Nil if there is no such word, so the rules decide.
  private static func life(_ words: [String], _ place: Int) -> Expiration? {
    words.count > place ? .after(.milliseconds(Int(words[place])!)) : nil
  }

  /// Does one operation, and prints each outcome with the message. Usage: `operate STORE write|read|compact|copy|checkpoint`.
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
      // After the step `break`, the disk accepts no bytes for the data file, so `sync`, `set` and `get` fail.
      step("open") { store throws(LarderError) in
        let notes = store.namespace("notes")
        try notes.set("v", for: "k")
        say("break") { () throws(LarderError) in try! Self.breakDisk() }
        say("sync") { () throws(LarderError) in try store.sync() }
        say("set") { () throws(LarderError) in try notes.set("w", for: "k") }
        say("get") { () throws(LarderError) in let _: String? = try notes.value(for: "k") }
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
