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

  private static let scenarios: [String: @Sendable (Peer) throws -> Void] = [
    "batches": { try $0.writeBatches() }, "buffered": { try $0.writeBuffered() },
    "count": { try $0.countUp() }, "churn": { try $0.churn() }, "commands": { try $0.obey() },
    "churn-in-limit": { try $0.churnInLimit() }, "compact": { try $0.compact() },
    "crowd": { try $0.crowd() }, "damage": { try $0.openDamaged() },
    "damage-cases": { try $0.damageCases() }, "damage-trials": { try $0.damageTrials() },
    "descriptors": { try $0.listDescriptors() }, "fail-meta": { try $0.failMetaWrite() },
    "refuse-buffer-commit": { try $0.refuseBufferCommit() },
    "fail-sync-at-closing": { try $0.failSyncAtClosing() }, "fill": { try $0.fill() },
    "fork": { try $0.fork() }, "fork-beside-threads": { try $0.forkBesideThreads() },
    "fork-in-read": { try $0.forkInRead() }, "fork-in-write": { try $0.forkInWrite() },
    "fork-with-limit": { try $0.forkWithLimit() }, "fork-with-number": { try $0.forkWithNumber() },
    "fork-with-temporary": { try $0.forkWithTemporary() }, "grow": { try $0.grow() },
    "http-hits": { try $0.hitHTTP() }, "http": { try $0.cacheHTTP() },
    "fill-in-little-space": { try $0.fillInLittleSpace() },
    "fork-while-loading": { try $0.forkWhileLoading() },
    "fork-while-writing": { try $0.forkWhileWriting() }, "hold": { try $0.hold() },
    "large": { try $0.fillLarge() }, "limits": { try $0.changeWithinLimits() },
    "lock": { try $0.holdLock() }, "make": { try $0.makeStore() },
    "lose-locks": { try $0.loseLocks() }, "no-room-for-limit": { try $0.limitWithoutRoom() },
    "no-room": { try $0.growWithoutRoom() }, "larder-fill": { try $0.fillStore() },
    "larder-globals": { try $0.keepStores() }, "load": { try $0.loadOne() },
    "load-bulk": { try $0.loadBulk() }, "load-many": { try $0.loadMany() },
    "larder-hold": { try $0.holdMoment() }, "hold-write": { try $0.holdWrite() },
    "larder": { try $0.openStore() }, "number": { try $0.number() },
    "pop-buffered": { try $0.popBuffered() }, "power": { try $0.power() },
    "power-group": { try $0.powerGroup() }, "queue": { try $0.queueUp() },
    "race": { try $0.race() }, "operate": { try $0.operate() },
    "read-without-permission": { try $0.readWithoutPermission() },
    "standard-descriptors": { try $0.recordStandardDescriptors() },
    "starvation-trials": { try $0.starvationTrials() }, "starved-client": { try $0.actStarved() },
    "starved": { try $0.writeStarved() }, "write-and-stay": { try $0.writeAndStay() },
    "write-without-descriptors": { try $0.writeWithoutDescriptors() }, "read": { try $0.read() },
    "sync-words": { try $0.obeySyncWords() }, "remove-and-load": { try $0.removeAndLoad() },
    "use": { try $0.useEntries() }, "watch": { try $0.watch() }, "words": { try $0.shareWords() },
    "write": { try $0.writeEntries() },
  ]

  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 2, let scenario = scenarios[words[1]] else {
      endWithUsage(scenarios.keys.sorted().joined(separator: "|"))
    }
    do {
      try scenario(Peer(store: words[2], arguments: Array(words.dropFirst(2))))
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
