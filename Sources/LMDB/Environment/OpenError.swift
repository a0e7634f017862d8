import LarderSystem

/// Why an environment could not be opened: what, where, and the cause if the system or LMDB named one.
package struct OpenError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case absent, absentParent, notADirectory, notAFile, linked, foreignOwner, exposed,
      networkFileSystem
    case exists, notEmpty, notLMDB, foreign, damaged, truncated, locksLost, replaced, busy,
      stillClosing, needsRecovery, otherDurability
    case tooMany, system
  }

  package let kind: Kind
  package let path: String
  package let detail: String
  package let cause: LMDBError?

  init(_ kind: Kind, path: String, detail: String = "", cause: LMDBError? = nil) {
    self.kind = kind
    self.path = path
    self.detail = detail
    self.cause = cause
  }

  package var description: String {
    let because = cause.map { ": \($0.description)" } ?? ""
    return switch kind {
    case .absent: "there is no store at \(path)"
    case .absentParent: "the directory that should hold \(path) does not exist"
    case .notADirectory: "\(path) is a file; a store is a directory"
    case .notAFile: "\(path) is not a regular file"
    case .linked: "\(path) has more than one name (hard links)"
    case .foreignOwner: "\(path) belongs to another user"
    case .exposed: "\(path) can be changed or read by other users"
    case .networkFileSystem:
      "\(path) is on a network file system, where locks and maps cannot be trusted"
    case .exists: "\(path) is there already"
    case .notEmpty: "\(path) holds other files and no store"
    case .notLMDB: "\(path) is not an LMDB file: \(detail)"
    case .foreign: "\(path) is an LMDB file that Larder did not write"
    case .damaged: "\(path) is damaged: \(detail)"
    case .truncated: "\(path) was cut short: \(detail)"
    case .locksLost: "a process that has \(path) open has lost its locks"
    case .replaced: "\(path) was replaced while this process has the former store there open"
    case .stillClosing: "\(path) was closed in this process, but a read there goes on"
    case .busy: "another process is opening or closing \(path) and does not finish"
    case .needsRecovery: "\(path) was not closed before the machine stopped; it needs recovery"
    case .otherDurability: "\(path) has another durability: \(detail)"
    case .tooMany: "this process has too many stores open to open \(path)"
    case .system: "\(path) cannot be opened\(because)"
    }
  }

  package var recoverySuggestion: String {
    switch kind {
    case .absent: "check the path, or ask for the store to be made"
    case .absentParent: "make that directory first"
    case .notADirectory: "name the directory that holds data.mdb"
    case .notAFile, .linked:
      "put back the plain file; a link would let two processes miss each other's locks"
    case .foreignOwner: "open it as that user, or ask for a foreign store explicitly"
    case .exposed: "chmod go-rwx \(path)"
    case .networkFileSystem: "put the store on a local disk"
    case .exists: "name a place where there is nothing"
    case .notEmpty: "name a new or an empty directory"
    case .notLMDB, .foreign: "name a directory that holds a Larder store, or a new one"
    case .damaged, .truncated:
      "restore it from a backup, or move it away and let it fill again: a cache can"
    case .locksLost:
      "close the store in every process, then open it again; lock.mdb was opened and closed behind its back"
    case .replaced: "close the store that this process opened there, then open it again"
    case .stillClosing: "end that read, then open it again"
    case .busy: "try again, or look for a process that is stopped"
    case .needsRecovery: "open it for writing once"
    case .otherDurability:
      "open it without asking for one, or with the one it has; to change it, close it in every process"
    case .tooMany: "close some; a store is meant to be opened once and shared"
    case .system: cause?.recoverySuggestion ?? "see the message"
    }
  }
}
