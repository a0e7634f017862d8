import Foundation
import Larder
import TestSupport

/// Runs cases one after the other: each case damages a copy of a store, and then opens, reads, verifies and writes the copy.
///
/// Usage: `damage-cases DIRECTORY SEED COUNT LEVEL`. Prints `case SEED` before each case, and the result after the case.
/// After a crash or a hang there is no result, and `damage-trials` counts the case as failed.
struct DamageWorker {
  private let files: [String: Data]
  private let former: Data
  private let model: DamageModel
  private let directory: String
  private let durability: Durability
  static let writes = 250

  /// - Parameter killed: whether to copy the files while the store is open. Such copies are like the files that a kill leaves.
  init(directory: String, durability: Durability, killed: Bool) throws {
    self.directory = directory
    self.durability = durability
    let base = directory + "/base"
    let manager = FileManager.default
    try? manager.removeItem(atPath: directory)
    try manager.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var former = Data()
    let (model, store) = try DamageModel.build(at: base, durability: durability) {
      former = manager.contents(atPath: base + "/data.mdb") ?? Data()
    }
    if !killed { try store.close() }
    var files: [String: Data] = [:]
    for name in try manager.contentsOfDirectory(atPath: base) {
      files[name] = manager.contents(atPath: base + "/" + name)
    }
    if killed { try store.close() }
    self.model = model
    self.files = files
    self.former = former
  }

  func run(seed: UInt64) throws -> String {
    var mutation = Mutation(files: files, former: former, seed: seed)
    mutation.apply()
    let path = directory + "/case"
    try? FileManager.default.removeItem(atPath: path)
    try makePrivateDirectory(path)
    for (name, data) in mutation.files { try makePrivateFile(path + "/" + name, data) }
    Peer.say("case \(seed) \(mutation.description)")
    var tally = DamageTally(model: model, hasOldPages: mutation.hasOldPages)
    tally.keepsUnwritten = mutation.listsPageInUse && mutation.changes == 1
    tally.run(path, durability: durability, seed: seed)
    return tally.summary
  }
}

struct DamageTally {
  private var model: DamageModel
  private var wrong: [String] = []
  private var lost = 0
  private var read = 0
  private var errors: [String: Int] = [:]
  private var written = 0
  private var refused = false
  private var old = 0
  /// Whether an older version of a page has replaced the page. A disk that loses a write has this effect.
  private let hasOldPages: Bool
  /// Whether each page is whole. If so, a write may lose only the entry that it writes.
  var keepsUnwritten = false
  /// The entries that were read, and that no write has changed after the read.
  private var unwritten: Set<String> = []

  init(model: DamageModel, hasOldPages: Bool) {
    self.model = model
    self.hasOldPages = hasOldPages
  }

  var summary: String {
    let kinds = errors.keys.sorted().map { "\($0):\(errors[$0]!)" }.joined(separator: ",")
    return
      "\(wrong.isEmpty ? "ok" : "WRONG \(wrong.prefix(3))") read \(read) lost \(lost) old \(old) written \(written)"
      + (refused ? " refused" : "") + " errors \(kinds)"
  }

  mutating func run(_ path: String, durability: Durability, seed: UInt64) {
    let options = Store.Options(create: false, lockTimeout: .seconds(2))
    guard let store = attempt("open", { try Store(at: path, options: options) }) else {
      refused = true
      return
    }
    // Opening empties a scratch store that it cannot trust, so every entry may be gone.
    if durability == .scratch { model.noteAllMayBeGone() }
    readAll(store)
    verify(store)
    write(store, seed: seed)
    let expected = unwritten
    unwritten = []
    readAll(store)
    if keepsUnwritten {
      for name in expected.subtracting(unwritten).sorted() {
        wrong.append("\(name.prefix(30)) is lost by the write of another entry")
      }
    }
    verify(store)
    _ = attempt("close") { try store.close() }
  }

  /// Runs `body`. Returns nil after an error of the library. An error of another type is a failure of the case.
  private mutating func attempt<Result>(_ what: String, _ body: () throws -> Result) -> Result? {
    do { return try body() } catch let error as LarderError {
      errors[error.code.rawValue, default: 0] += 1
    } catch { wrong.append("\(what) threw \(type(of: error)) \(error)") }
    return nil
  }

  private mutating func check(_ value: [UInt8]?, _ full: String, _ way: String) {
    read += 1
    if value != nil { unwritten.insert(full) }
    if let value, !model.allows(value, for: full) {
      // The library cannot distinguish a whole old page from a new page, so an old value from an old page is no fault.
      if hasOldPages, model.isOld(value, for: full) {
        old += 1
      } else {
        wrong.append("\(way) \(full.prefix(30))")
      }
    }
    if value == nil, let possible = model.possible[full], !possible.contains(0) { lost += 1 }
  }

  private mutating func readAll(_ store: Store) {
    for name in DamageModel.namespaces {
      let space = store.namespace(name)
      for number in 0..<DamageModel.keys {
        let key = DamageModel.name(number)
        if let value = attempt("get", { () throws -> [UInt8]? in try space.value(for: key) }) {
          check(value, name + "/" + key, "get")
        }
        _ = attempt("contains") { try space.contains(key) }
      }
      var visited: [(String, [UInt8])] = []
      _ = attempt("scan") {
        try space.scan { entry, value in
          visited.append((name + "/" + entry.key.description, value.indices.map { value[$0] }))
          return visited.count < 10_000
        }
      }
      _ = attempt("scan of values") {
        try space.scanValues { key, value in
          let name = name + "/" + String(decoding: key.indices.map { key[$0] }, as: UTF8.self)
          visited.append((name, value.indices.map { value[$0] }))
          return visited.count < 10_000
        }
      }
      if visited.count >= 10_000 { wrong.append("a scan without an end") }
      for (full, value) in visited { check(value, full, "scan") }
      _ = attempt("page") { try space.page(limit: 50) }
    }
    _ = attempt("namespaces") { try store.namespaces() }
    _ = attempt("statistics") { try store.statistics() }
  }

  private mutating func verify(_ store: Store) {
    // `verify` must return damage as its result, so it must not throw.
    guard let result = attempt("verify", { try store.verify() }) else {
      wrong.append("verify throws")
      return
    }
    if result.isSound, lost > 0 { errors["unnoticed", default: 0] += 1 }
  }

  private mutating func write(_ store: Store, seed: UInt64) {
    var random = SeededRNG(seed: seed &+ 1_000_000)
    for number in 0..<DamageWorker.writes {
      let name = DamageModel.namespaces.randomElement(using: &random)!
      let space = store.namespace(name)
      let key = DamageModel.name(random.next(in: 0..<DamageModel.keys))
      let full = name + "/" + key
      unwritten.remove(full)
      switch random.next(in: 0..<40) {
      case 0: if attempt("purge", { try store.purge() }) != nil { written += 1 }
      case 1:
        model.noteAllMayBeGone()
        unwritten = []
        if attempt("invalidate", { try store.invalidate(tag: "tag\(number % 5)") }) != nil {
          written += 1
        }
      case 2 where number % 7 == 0:
        model.noteAllMayBeGone()
        unwritten = []
        if attempt("clear", { try space.clear() }) != nil { written += 1 }
      case 3...12:
        let done = attempt("remove") { try space.remove(key) } != nil
        model.note(full, 0, isCertain: done)
        if done { written += 1 }
      default:
        let version = 100_000 + number
        let value = DamageModel.value(of: full, version: version)
        let done = attempt("set") { try space.set(value, for: key) } != nil
        model.note(full, version, isCertain: done)
        if done {
          written += 1
          if let now = attempt("get", { () throws -> [UInt8]? in try space.value(for: key) }),
            now != value
          {
            wrong.append("\(full.prefix(30)) reads otherwise than it was just written")
          }
        }
      }
    }
  }
}

extension Peer {
  func damageCases() throws {
    let level = value(2) { Durability(rawValue: $0) }
    let first = value(0) { UInt64($0) }
    let worker = try DamageWorker(
      directory: store, durability: level,
      killed: DamageTrials.isKilled(first) && level != .scratch)
    for seed in first..<first + UInt64(argument(1)) { Peer.say(try worker.run(seed: seed)) }
    try FileManager.default.removeItem(atPath: store)
    Peer.say("end")
  }
}
