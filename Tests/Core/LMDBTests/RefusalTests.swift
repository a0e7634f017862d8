import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct Refusals {
  let directory = TemporaryDirectory()
  var store: String { directory.store }
  var data: String { store + "/data.mdb" }

  private func makeStore() throws { try Fixture.open(store).set([5], [6]) }

  /// Expects that an opening fails with an error of `kind`, and that the opening leaves every file in the directory unchanged.
  private func expectRefusal(
    _ kind: OpenError.Kind, _ options: EnvironmentOptions = Fixture.options(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try TemporaryDirectory.listing(store)
    #expect(refusal(store, options) == kind, sourceLocation: sourceLocation)
    #expect(try TemporaryDirectory.listing(store) == before, sourceLocation: sourceLocation)
  }

  @Test func `no store where none is to be made`() throws {
    let options = with(Fixture.options()) { $0.create = false }
    #expect(refusal(store, options) == .absent)
    #expect(!FileManager.default.fileExists(atPath: store))
    try makePrivateDirectory(store)
    try expectRefusal(.absent, options)
  }

  @Test func `a parent that does not exist`() {
    #expect(refusal(store + "/deep/er") == .absentParent)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a file in the place of the directory`() throws {
    try makePrivateFile(store, Data("text".utf8))
    #expect(refusal(store) == .notADirectory)
    #expect(refusal(store + "/inside") != nil)
  }

  @Test func `a directory with other files`() throws {
    try makePrivateDirectory(store)
    try makePrivateFile(store + "/notes.txt", Data("keep me".utf8))
    try expectRefusal(.notEmpty)
  }

  @Test func `a file that is not LMDB's`() throws {
    try makePrivateDirectory(store)
    for contents in [
      Data("a text".utf8), Data(repeating: 0, count: 20_000), Data(repeating: 0xAB, count: 152),
    ] {
      try makePrivateFile(data, contents)
      try expectRefusal(.notLMDB)
    }
  }

  @Test func `an LMDB file of another program`() throws {
    let options = with(EnvironmentOptions()) { $0.databases = ["second"] }
    try Environment.open(at: store + ".foreign", options: options) { _ in }.close()
    try makePrivateDirectory(store)
    try FileManager.default.copyItem(atPath: store + ".foreign/data.mdb", toPath: data)
    try expectRefusal(.foreign)
  }

  @Test func `an unknown data version`() throws {
    try makeStore()
    try makePrivateFile(data, with(Data(contentsOf: URL(fileURLWithPath: data))) { $0[20] = 9 })
    try expectRefusal(.notLMDB)
  }

  /// The page headers of LMDB 1.x are 8 bytes longer than in LMDB 0.9, so magic number and version are at larger offsets.
  @Test(arguments: [0, 8]) func `a file that LMDB 1.x made`(shift: Int) throws {
    try makePrivateDirectory(store)
    var bytes = Data(count: 16_384)
    for meta in [0, 4096] {
      bytes.replaceSubrange(
        meta + 16 + shift..<meta + 24 + shift, with: [0xDE, 0xC0, 0xEF, 0xBE, 3, 0, 0, 0])
    }
    try makePrivateFile(data, bytes)
    let error = try #require(openError(store))
    let words = "\(error) (\(error.recoverySuggestion))"
    #expect(words.contains("LMDB 1.x"))
    #expect(words.contains("LMDB 0.9"))
    #expect(!words.contains("salvage"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store) == ["data.mdb"])
  }

  @Test(arguments: ["data.mdb", "lock.mdb", "lock.write"])
  func `a link in the place of a file`(name: String) throws {
    try makeStore()
    let victim = directory.path + "/victim"
    try FileManager.default.moveItem(atPath: store + "/" + name, toPath: victim)
    try FileManager.default.createSymbolicLink(
      atPath: store + "/" + name, withDestinationPath: victim)
    let before = FileManager.default.contents(atPath: victim)
    try expectRefusal(.notAFile)
    #expect(FileManager.default.contents(atPath: victim) == before)
  }

  @Test(arguments: ["data.mdb", "lock.mdb", "lock.queue"])
  func `a file with a second name`(name: String) throws {
    try makeStore()
    try FileManager.default.linkItem(atPath: store + "/" + name, toPath: directory.path + "/second")
    try expectRefusal(.linked)
  }

  @Test(.timeLimit(.minutes(20)), arguments: ["data.mdb", "lock.mdb", "lock.opening"])
  func `a pipe in the place of a file, without waiting for its other end`(name: String) throws {
    try makePrivateDirectory(store)
    #expect(Process.succeeds(["mkfifo", "-m", "600", store + "/" + name]))
    #expect(refusal(store) == .notAFile)
  }

  @Test func `a directory that others may write to`() throws {
    try makeStore()
    for mode in [0o770, 0o702] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store)
      try expectRefusal(.exposed)
    }
  }

  @Test(arguments: ["data.mdb", "lock.mdb", "lock.opening"])
  func `a file that others may read`(name: String) throws {
    try makeStore()
    #expect(Process.succeeds(["chmod", "640", store + "/" + name]))
    try expectRefusal(.exposed)
    // A volume of a container may have given rights to all files, so the remedy must be for all files.
    #expect(openError(store)?.recoverySuggestion.hasPrefix("chmod -R go-rwx ") == true)
  }

  @Test(.enabled(if: geteuid() == 0, "giving files away needs root"))
  func `a store of another user, unless it is asked for`() throws {
    try makeStore()
    #expect(Process.succeeds(["chown", "-R", "65534:65534", store]))
    try expectRefusal(.foreignOwner)
    let options = with(Fixture.options()) { ($0.foreignOwner, $0.readOnly) = (true, true) }
    #expect(try Fixture.open(store, options).value([5]) == [6])
    // A copy lacks lock files. The owner could not open the copy beside a lock file of this user.
    try FileManager.default.removeItem(atPath: store + "/lock.write")
    let before = try TemporaryDirectory.listing(store)
    #expect(try Fixture.open(store, options).value([5]) == [6])
    #expect(try TemporaryDirectory.listing(store) == before)
  }

  @Test(
    .enabled(if: geteuid() != 0 || canChangeUser, "no setpriv to become another user with"),
    arguments: ["store", "store/data.mdb", "store/lock.mdb"])
  func `what the user has no right to`(name: String) throws {
    try makeStore()
    let prefix = directory.giveAway()
    try FileManager.default.setAttributes(
      [.posixPermissions: name == "store" ? 0o500 : 0o400],
      ofItemAtPath: directory.path + "/" + name)
    let before = try TemporaryDirectory.listing(store)
    #expect(try PeerProcess("hold", store, under: prefix).lines() == ["refused unwritable"])
    #expect(try TemporaryDirectory.listing(store) == before)
  }
}

@Suite struct `The shim of LMDB` {
  let directory = TemporaryDirectory()

  /// Compiles the shim with an LMDB header of version `major`. Returns the errors of the compiler, or nil without an error.
  private func complaint(major: Int) throws -> String? {
    let header = """
      #include <stddef.h>
      #define MDB_VERSION_MAJOR \(major)
      typedef struct MDB_env MDB_env;
      int mdb_reader_list(MDB_env *env, int (*line)(const char *, void *), void *context);
      """
    try Data(header.utf8).write(to: URL(fileURLWithPath: directory.path + "/lmdb.h"))
    let (status, text) = try Process.output(of: [
      "sh", "-c", "exec \"$0\" \"$@\" 2>&1", "cc", "-fsyntax-only", "-I", directory.path, "-x", "c",
      Repository.root.appending(path: "Sources/Core/CLMDB/shim.h").path,
    ])
    return status == 0 ? nil : text
  }

  @Test(.enabled(if: Process.succeeds(["cc", "--version"]), "there is no compiler for C"))
  func `only LMDB 0.9 is accepted, and another version is refused in words`() throws {
    #expect(try complaint(major: 0) == nil)
    #expect(try complaint(major: 1)?.contains("Larder needs LMDB 0.9") == true)
  }
}
