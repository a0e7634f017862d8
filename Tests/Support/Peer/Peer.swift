import Foundation
import LMDB
import Larder
import LarderSystem
import Synchronization

/// A program for tests that need several processes. Runs one scenario with a store, and prints each outcome on its own line.
///
/// Usage: `LarderPeer <scenario> <store> [argument...]`. A scenario that reads the input ends when the input ends. Other
/// scenarios end after their work, or when the test kills the process.
@main struct Peer {
  let store: String
  let arguments: [String]

  /// Stores that live to the end of the process, like globals of `main.swift`.
  static let kept = Mutex<[Store]>([])

  private static let scenarios: [String: @Sendable (Peer) -> () throws -> Void] = [
    "batches": Peer.writeBatches, "buffered": Peer.writeBuffered, "count": Peer.countUp,
    "churn": Peer.churn, "commands": Peer.obey, "churn-in-limit": Peer.churnInLimit,
    "compact": Peer.compact, "crowd": Peer.crowd, "damage": Peer.openDamaged,
    "damage-cases": Peer.damageCases, "damage-trials": Peer.damageTrials,
    "descriptors": Peer.listDescriptors, "fail-meta": Peer.failMetaWrite,
    "refuse-buffer-commit": Peer.refuseBufferCommit, "fail-sync-at-closing": Peer.failSyncAtClosing,
    "fill": Peer.fill, "fork": Peer.fork, "fork-beside-threads": Peer.forkBesideThreads,
    "fork-in-read": Peer.forkInRead, "fork-in-write": Peer.forkInWrite,
    "fork-with-limit": Peer.forkWithLimit, "fork-with-number": Peer.forkWithNumber,
    "fork-with-temporary": Peer.forkWithTemporary, "grow": Peer.grow, "http-hits": Peer.hitHTTP,
    "http": Peer.cacheHTTP, "fill-in-little-space": Peer.fillInLittleSpace,
    "fork-while-loading": Peer.forkWhileLoading, "fork-while-writing": Peer.forkWhileWriting,
    "hold": Peer.hold, "large": Peer.fillLarge, "limits": Peer.changeWithinLimits,
    "lock": Peer.holdLock, "make": Peer.makeStore, "lose-locks": Peer.loseLocks,
    "no-room-for-limit": Peer.limitWithoutRoom, "no-room": Peer.growWithoutRoom,
    "larder-fill": Peer.fillStore, "larder-globals": Peer.keepStores, "load": Peer.loadOne,
    "load-bulk": Peer.loadBulk, "load-many": Peer.loadMany, "larder-hold": Peer.holdMoment,
    "hold-write": Peer.holdWrite, "larder": Peer.openStore, "number": Peer.number,
    "pop-buffered": Peer.popBuffered, "power": Peer.power, "power-group": Peer.powerGroup,
    "queue": Peer.queueUp, "race": Peer.race, "operate": Peer.operate,
    "read-without-permission": Peer.readWithoutPermission,
    "standard-descriptors": Peer.recordStandardDescriptors,
    "starvation-trials": Peer.starvationTrials, "starved-client": Peer.actStarved,
    "starved": Peer.writeStarved, "write-and-stay": Peer.writeAndStay,
    "write-without-descriptors": Peer.writeWithoutDescriptors, "read": Peer.read,
    "sync-words": Peer.obeySyncWords, "remove-and-load": Peer.removeAndLoad, "use": Peer.useEntries,
    "watch": Peer.watch, "words": Peer.shareWords, "write": Peer.writeEntries,
  ]

  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 2, let scenario = scenarios[words[1]] else {
      endWithUsage(scenarios.keys.sorted().joined(separator: "|"))
    }
    do {
      try scenario(Peer(store: words[2], arguments: Array(words.dropFirst(2))))()
    } catch let error as OpenError {
      say("refused \(error.kind)")
      exit(2)
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  /// An argument after the store, as a number that is not negative.
  func argument(_ index: Int) -> Int { value(index) { Int($0).flatMap { $0 < 0 ? nil : $0 } } }

  /// An argument after the store. If the argument is missing or invalid, prints the usage and ends the process.
  func value<Value>(_ index: Int, _ read: (String) -> Value?) -> Value {
    guard arguments.indices.contains(index), let value = read(arguments[index]) else {
      Self.endWithUsage(CommandLine.arguments[1], ": argument \(index + 1) is missing or wrong")
    }
    return value
  }

  private static func endWithUsage(_ scenario: String, _ reason: String = "") -> Never {
    say("usage: LarderPeer \(scenario) <store> [argument...]\(reason)")
    exit(64)
  }

  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// Waits for the next line, and first prints `line`. Returns false at the end of the input.
  @discardableResult func waitForInput(saying line: String? = nil) -> Bool {
    if let line { Self.say(line) }
    return readLine() != nil
  }

  func waitForEndOfInput(saying line: String? = nil) {
    if let line { Self.say(line) }
    while waitForInput() {}
  }

  func untilEndOfInput(_ body: () throws -> Void) rethrows {
    let end = Thread { waitForEndOfInput() }
    end.start()
    while !end.isFinished { try body() }
  }
}

extension Peer {
  /// The outcome of a call: `done`, or the error. Each error that tests look for is one word.
  static func outcome(_ call: () throws -> Void) -> String {
    do {
      try call()
      return "done"
    } catch let error as LMDBError {
      return switch error {
      case .forked: "forked"
      case .closed: "closed"
      case .panic: "panic"
      case .diskFull: "full"
      case .mapFull: "map-full"
      case .mapHeld: "map-held"
      case .replaced: "replaced"
      case .insideWrite: "inside-write"
      case .syncFailed: "unsynced"
      default: "\(error)"
      }
    } catch { return "\(error)" }
  }

  func hold() throws {
    let environment = try Fixture.open(store)
    waitForEndOfInput(saying: "open")
    Peer.say(environment.close() ? "closed" : "held")
  }
}
