import Foundation
import LMDB
import Larder
import LarderSystem
import TestSupport

extension Peer {
  /// Closes a store with unsynced writes on a broken disk, so the sync during the close fails.
  func failSyncAtClosing() throws {
    let options = Store.Options(checkpointInterval: .seconds(3600))
    let opened = try Store(at: store, options: options)
    let notes = opened.namespace("notes")
    try notes.set("kept", for: "k")
    try opened.sync()
    try notes.set("lost", for: "k")
    try Self.breakDisk()
    for _ in 0..<2 {
      do throws(LarderError) {
        try opened.close()
        Peer.say("closed")
      } catch { Peer.say("\(error.code)") }
    }
    let again = try Store(at: store, options: options)
    let value: String? = try again.namespace("notes").value(for: "k")
    Peer.say("again \(value ?? "nothing")")
  }

  /// Replaces the descriptor for meta pages by `/dev/full`, to simulate a broken disk. The write of a meta page then fails.
  func failMetaWrite() throws {
    let environment = try Fixture.open(store)
    try environment.set([1], [1])
    let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    let descriptor = try Self.metaDescriptor()
    Peer.say("swapped \(dup2(full.fileDescriptor, descriptor) == descriptor)")
    Peer.say("write \(Peer.outcome { try environment.set([1], [2]) })")
    Peer.say("read \(Peer.outcome { _ = try environment.value([1]) })")
    Peer.say("write \(Peer.outcome { try environment.set([1], [3]) })")
    let anew = try Fixture.open(store)
    Peer.say("anew \(anew !== environment) \(try anew.value([1]) ?? [])")
    try anew.set([1], [4])
    Peer.say("after \(try anew.value([1]) ?? [])")
    Peer.say("old \(Peer.outcome { _ = try environment.value([1]) })")
  }

  /// After this call, the disk accepts no bytes for the data files.
  static func breakDisk() throws {
    let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    for descriptor in try dataDescriptors() { dup2(full.fileDescriptor, descriptor) }
  }

  private static func dataDescriptors() throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(name)")
      return target?.hasSuffix("data.mdb") == true ? Int32(name) : nil
    }
  }

  /// The descriptor that LMDB opens for synchronous writes of meta pages.
  private static func metaDescriptor() throws -> Int32 {
    for descriptor in try dataDescriptors() {
      let info = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
      let flags = info.split(separator: "\n").first { $0.hasPrefix("flags") }
      let mode = flags?.split(whereSeparator: \.isWhitespace).last.flatMap { Int32($0, radix: 8) }
      if let mode, mode & O_DSYNC != 0 { return descriptor }
    }
    throw LMDBError(code: ENOENT)
  }

  /// Until the input ends, obeys the command on each line and prints the outcome. The commands: `open [LEVEL]`, `set N`,
  /// `sync`, `get`, `close`, `change LEVEL`, and `compact`. `open` uses the level only for a new store.
  func obeySyncWords() throws {
    var environment: Environment?
    var options = Fixture.options(durability: .checkpointed)
    options.checkpointInterval = .seconds(3600)
    Peer.say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      let answer = Self.words { () throws -> String in
        switch words[0] {
        case "open":
          if words.count > 1 { options.durability = Self.level(words[1]) }
          environment = try Fixture.open(store, options)
        case "change":
          options.durability = Self.level(words[1])
          options.durabilityChange = { _ in }
          defer { options.durabilityChange = nil }
          environment = try Fixture.open(store, options)
        case "set": try environment?.set([5], [UInt8(words[1])!])
        case "sync": try environment?.sync()
        case "get": return "\(try environment?.value([5]) ?? [])"
        case "compact": try environment?.closeCompacting { _, _ in true }
        case "close":
          environment?.close()
          if let failure = environment?.takeClosingFailure() { throw failure }
        default: preconditionFailure("an unknown command: \(words)")
        }
        return "done"
      }
      Peer.say(answer)
    }
    environment?.close()
  }

  private static func level(_ word: String) -> DurabilityLevel {
    DurabilityLevel.allCases.first { "\($0)" == word }!
  }

  private static func words(_ call: () throws -> String) -> String {
    do { return try call() } catch let error as OpenError {
      return "refused \(error.kind)"
    } catch let error as LMDBError {
      return error == .syncFailed ? "unsynced" : error == .inputOutput ? "EIO" : "\(error)"
    } catch { return "\(error)" }
  }

  /// Opens copies of the store with a few flipped bits in the pages that opening relies on, and prints each outcome.
  ///
  /// A crash ends the process, so the test finds each crash. With the seed and the number of the round, a case can be repeated.
  func openDamaged() throws {
    let seed = value(0) { UInt64($0) }
    let original = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
    let directory = store + ".damaged"
    for round in 0..<argument(1) {
      var random = SeededRNG(seed: seed &+ UInt64(round))
      let damaged = Self.flip(original, &random)
      try? FileManager.default.removeItem(atPath: directory)
      try makePrivateDirectory(directory)
      let file = directory + "/data.mdb"
      try makePrivateFile(file, damaged)
      Peer.say("round \(round)")
      do throws(OpenError) {
        let environment = try Fixture.open(directory)
        Peer.say("opened")
        environment.close()
      } catch { Peer.say("refused \(error.kind)") }
      let after = try Data(contentsOf: URL(fileURLWithPath: file))
      precondition(after == damaged, "opening changed the file")
      // An opening that changes the level must write to the damaged file or refuse the file, without a crash.
      let changing = with(Fixture.options(durability: .scratch)) { $0.durabilityChange = { _ in } }
      do throws(OpenError) { try Fixture.open(directory, changing).close() } catch {
        Peer.say("kept its level: \(error.kind)")
      }
    }
    try FileManager.default.removeItem(atPath: directory)
    Peer.say("survived")
  }

  private static let pageSize = 4096

  /// Flips one to four bits in a meta page or in a page that a meta page names as a root.
  private static func flip(_ original: Data, _ random: inout SeededRNG) -> Data {
    var bytes = original
    let page = ([0, 1] + roots(original)).randomElement(using: &random)!
    // A meta page uses 152 bytes. In other pages the first 32 bytes matter most, so half of the cases flip only these bytes.
    let length = page < 2 ? 152 : Bool.random(using: &random) ? 32 : pageSize
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = page * pageSize + Int.random(in: 0..<length, using: &random)
      if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    }
    return bytes
  }

  /// The roots of the free list and the main database, in both meta pages.
  private static func roots(_ bytes: Data) -> [Int] {
    [80, 128].flatMap { field in
      [0, 1].compactMap { meta in
        let place = meta * pageSize + field
        let root = bytes[place..<place + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return root < UInt64(bytes.count / pageSize) ? Int(root) : nil
      }
    }
  }
}
