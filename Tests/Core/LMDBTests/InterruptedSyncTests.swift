import Foundation
import LarderPeer
import TestSupport
import Testing

@testable import LMDB

@Suite struct `Interrupted syncs` {
  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc"), "the recorder needs Linux"))
  func `a sync that a signal interrupts is repeated`() throws {
    let recorder = try PowerRecorder.library.get()
    let peer = try PeerProcess(
      "write-and-stay", directory.store,
      under: [
        "LD_PRELOAD=\(recorder)", "LARDER_POWER_STORE=\(directory.store)",
        "LARDER_POWER_TRACE=\(directory.path)/trace", "LARDER_POWER_INTERRUPT=1",
      ])
    let written = try #require(peer.line())
    let transaction = try #require(UInt64(written.split(separator: " ").last ?? ""), "\(written)")
    #expect(try peer.end() == 0)
    let recovery = try RecoveryFile(opening: directory.store + "/recovery")
    #expect(try recovery.readSynced()?.recoveryPoint?.transaction == transaction)
  }
}
