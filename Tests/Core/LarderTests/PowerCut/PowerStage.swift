import TestSupport

#if os(Linux)
  import Foundation

  @testable import LMDB
  @testable import Larder

  /// The shared parts of the power-cut tests: their length, and stores made of images.
  ///
  /// `LARDER_TRIALS=50` makes the tests long, `LARDER_TEST_POWER_LEVEL` selects one level. See `Docs/Operate/Reliability.md`.
  enum PowerStage {
    static let images = 40 * TestSettings.trials
    static let seed = TestSettings.seed
    private static let only = ProcessInfo.processInfo.environment["LARDER_TEST_POWER_LEVEL"]

    static func chosen(_ levels: [Durability]) -> [Durability] {
      levels.filter { only == nil || only == $0.rawValue }
    }

    static func report(_ line: String) { if TestSettings.trials > 1 { print("power: \(line)") } }

    static func program(_ name: String) -> String {
      URL(fileURLWithPath: PeerProcess.executable).deletingLastPathComponent().path + "/" + name
    }

    /// A test writes each image only once and needs no sync of the image, so the images are in memory if `/dev/shm` exists.
    static let directory =
      FileManager.default.isWritableFile(atPath: "/dev/shm")
      ? "/dev/shm" : URL(fileURLWithPath: NSTemporaryDirectory()).path

    @discardableResult
    static func place(
      _ image: [String: [UInt8]], _ store: String
    ) throws -> [String: (inode: UInt64, bytes: [UInt8])] {
      try makePrivateDirectory(store)
      for (name, bytes) in image { try makePrivateFile(store + "/" + name, Data(bytes)) }
      return try files(of: store)
    }

    static func files(of store: String) throws -> [String: (inode: UInt64, bytes: [UInt8])] {
      var files: [String: (inode: UInt64, bytes: [UInt8])] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: store)
      where !name.hasPrefix("lock.") {
        let path = store + "/" + name
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        files[name] = ((facts[.systemFileNumber] as? NSNumber)!.uint64Value, bytes)
      }
      return files
    }

    /// The transaction of the recovery point in the file `recovery`, or 0 if the file has no recovery point.
    static func point(_ bytes: [UInt8]) -> UInt64 {
      let records = [0, 4096].compactMap { start in
        bytes.count >= start + RecoveryRecord.size
          ? RecoveryRecord(Array(bytes[start..<start + RecoveryRecord.size])) : nil
      }
      return records.max { $0.sequence < $1.sequence }?.recoveryPoint?.transaction ?? 0
    }
  }
#endif
