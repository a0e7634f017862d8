import Foundation
import LMDB
import TestSupport

extension Peer {
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
      } catch {
        Peer.say("refused \(error.kind)")
      }
      let after = try Data(contentsOf: URL(fileURLWithPath: file))
      precondition(after == damaged, "opening changed the file")
    }
    try FileManager.default.removeItem(atPath: directory)
    Peer.say("survived")
  }

  private static let pageSize = 4096

  /// Flips one to four bits in a meta page or in a page that a meta page names as a root.
  private static func flip(_ original: Data, _ random: inout SeededRNG) -> Data {
    var bytes = original
    let page = ([0, 1] + roots(original)).randomElement(using: &random)!
    // A meta page uses only its first bytes. In other pages the first bytes matter most, so half of the cases flip only these.
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
