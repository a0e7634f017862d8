import FoundStores
import Foundation
import GRDB
import LSMStores
import RawLMDB

/// The machine on which a run took place, and its software.
struct Machine: Codable {
  var processor: String
  var cores: Int
  var memory: UInt64
  var system: String
  var versions: [String: String]

  static func here() throws -> Machine {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: &name.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let info = ProcessInfo.processInfo
    var versions = ["LMDB": String(cString: raw_version())]
    versions["SQLite"] = try DatabaseQueue().read {
      try String.fetchOne($0, sql: "SELECT sqlite_version()")
    }
    if lsm_missing(lsm_rocksdb) == nil {
      versions["RocksDB"] = String(cString: lsm_version(lsm_rocksdb))
    }
    if lsm_missing(lsm_leveldb) == nil {
      versions["LevelDB"] = String(cString: lsm_version(lsm_leveldb))
    }
    if mdbx_missing() == nil { versions["libmdbx"] = String(cString: mdbx_version_text()) }
    if tkrzw_missing() == nil { versions["tkrzw"] = String(cString: tkrzw_version_text()) }
    if let redis = Programs.path(of: "redis-server") {
      versions["Redis"] = Programs.output(of: redis, ["--version"])?.split(separator: " ")
        .first { $0.hasPrefix("v=") }.map { String($0.dropFirst(2)) }
    }
    return Machine(
      processor: processor ?? "unknown", cores: info.activeProcessorCount,
      memory: info.physicalMemory, system: "\(info.operatingSystemVersionString), \(release)",
      versions: versions)
  }

  private static var processor: String? {
    guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else {
      return nil
    }
    return text.split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}

extension Programs {
  /// The output of a program; nil if the program fails.
  static func output(of program: String, _ arguments: [String]) -> String? {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = pipe
    do { try process.run() } catch { return nil }
    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
