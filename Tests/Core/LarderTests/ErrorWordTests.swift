import Foundation
import LarderPeer
import TestSupport
import Testing

@testable import Larder

@Suite struct ErrorWordTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/s" }

  init() throws { try Store.leave(at: path) }

  private var hasty: Store.Options {
    with(Store.Options(lockTimeout: .milliseconds(100), checkpointInterval: .seconds(3600))) {
      // Without a write buffer each write takes the locks, so a lock of another process makes the write fail.
      $0.writeBuffer = 0
    }
  }

  private func words(_ body: () throws -> Void) -> String {
    guard let error = thrown(body) else { return "no error" }
    return "\(error.code.rawValue): \(error.message) | \(error.hint ?? "no remedy")"
  }

  /// Another process holds a lock file while `body` runs. The error must name the file and the process, and have a remedy.
  private func expectWords(
    holding lock: String, _ body: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let holder = try PeerProcess("lock", path, [lock], saying: "locked")
    let words = words(body)
    #expect(words.hasPrefix("busy: \(path)"), sourceLocation: sourceLocation)
    #expect(words.contains(lock), "\(words)", sourceLocation: sourceLocation)
    #expect(
      words.contains("process \(holder.identifier) (LarderPeer)"), "\(words)",
      sourceLocation: sourceLocation)
    #expect(!words.hasSuffix("no remedy"), sourceLocation: sourceLocation)
  }

  @Test func `each held lock is named, with its holder`() throws {
    try expectWords(holding: "lock.opening") { try Store(at: path, options: hasty).close() }
    try expectWords(holding: "lock.opening") { _ = try Store.compact(at: path, options: hasty) }
    try expectWords(holding: "lock.write") { try Store(at: path, options: hasty).close() }
    try expectWords(holding: "lock.readers") { try Store(at: path, options: hasty).close() }
    let store = try Store(at: path, options: hasty)
    try store.namespace("notes").set("v", for: "k")
    try expectWords(holding: "lock.write") { try store.namespace("notes").set("w", for: "k") }
    try expectWords(holding: "lock.write") { try store.sync() }
    try expectWords(holding: "lock.readers") { try store.sync() }
    try expectWords(holding: "lock.checkpoint") { try store.sync() }
    try store.sync()
    try store.close()
    try expectWords(holding: "lock.opening") {
      _ = try Store.salvage(from: path, to: path + ".new", options: hasty)
    }
    try expectWords(holding: "lock.write") {
      _ = try Store.salvage(from: path, to: path + ".new", options: hasty)
    }
  }

  private func endOfChanges(_ store: Store) async -> String {
    for await change in store.changes() {
      if case .ended(let error) = change.kind {
        return "\(error.message) | \(error.hint ?? "no remedy")"
      }
    }
    return "no error"
  }

  @Test func `a directory in the place of the file of changes is named`() async throws {
    try FileManager.default.createDirectory(
      atPath: path + "/changes", withIntermediateDirectories: false)
    let store = try Store(at: path)
    let words = await endOfChanges(store)
    #expect(words.contains("\(path)/changes"))
    #expect(words.contains("directory"), "\(words)")
    #expect(!words.contains("room"))
    try store.close()
  }

  @Test func `a held lock of the file of changes is named`() async throws {
    let holder = try PeerProcess("lock", path, ["lock.maps"], saying: "locked")
    let store = try Store(at: path)
    let words = await endOfChanges(store)
    #expect(words.contains("lock.maps"), "\(words)")
    #expect(words.contains("process \(holder.identifier) (LarderPeer)"), "\(words)")
    try store.close()
  }

  @Test func `what a killed creation left is no directory of other files`() throws {
    let place = directory.path + "/half"
    try makePrivateDirectory(place)
    for name in ["lock.open", "lock.opening", "data.mdb.new"] {
      try makePrivateFile(place + "/" + name)
    }
    let words = words { try Store(at: place, options: Store.Options(create: false)).close() }
    #expect(words.hasPrefix("notFound: there is no store at \(place)"))
    #expect(words.contains("killed"), "\(words)")
    try Store(at: place).close()
  }
}
