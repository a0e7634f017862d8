import Foundation
import TestSupport
import Testing

@Suite struct `The shim of LMDB` {
  let directory = TemporaryDirectory()

  /// Compiles the shim with an LMDB header of version `major`. Returns the errors of the compiler, or nil if there are none.
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
    let complaint = try #require(try complaint(major: 1))
    #expect(complaint.contains("Larder needs LMDB 0.9"))
  }
}
