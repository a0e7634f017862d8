import Foundation
import LMDB
import LarderSystem

extension Peer {
  /// Obeys one command in each line and prints its outcome, until the input ends: `open [LEVEL]`, `set N`, `sync`, `get`,
  /// `close`, `change LEVEL`, and `compact`. `open` uses the level only for a new store.
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
          options.changesDurability = true
          defer { options.changesDurability = false }
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
    do {
      return try call()
    } catch let error as OpenError {
      return "refused \(error.kind)"
    } catch let error as LMDBError {
      return error == .syncFailed ? "unsynced" : error == .inputOutput ? "EIO" : "\(error)"
    } catch {
      return "\(error)"
    }
  }
}
