import CLarderSystem
import LarderSystem

/// Why an environment could not be opened: what, where, and the cause if the system or LMDB named one.
package struct OpenError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case absent, absentParent, danglingLink, invalidPath, notADirectory, notAFile, linked
    case foreignOwner, exposed, networkFileSystem
    case exists, notEmpty, notLMDB, foreign, damaged, truncated, needsRecovery, otherDurability
    case busy, inUse, locksLost, replaced, stillClosing
    case notCreated, system
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
    let details = detail.isEmpty ? "" : " (\(detail))"
    return switch kind {
    case .absent: "there is no store at \(path)"
    case .absentParent: "the directory that should hold \(path) does not exist"
    case .danglingLink: "\(path) is a link to \(detail), which does not exist"
    case .invalidPath: "the path \(path) is not valid UTF-8, or has a zero byte"
    case .notADirectory: "\(path) is a file; a store is a directory"
    case .notAFile: "\(path) is not a regular file"
    case .linked: "\(path) has more than one name (hard links)"
    case .foreignOwner: "\(path) belongs to another user"
    case .exposed: "other users can change or read \(path)"
    case .networkFileSystem:
      "\(path) is on a network file system, where locks and maps are not reliable"
    case .exists: "\(path) exists already"
    case .notEmpty: "\(path) holds other files and no store"
    case .notLMDB: "\(path) is not an LMDB file: \(detail)"
    case .foreign: "\(path) is an LMDB file that Larder did not write"
    case .damaged: "\(path) is damaged: \(detail)"
    case .truncated: "\(path) is truncated: \(detail)"
    case .needsRecovery: "\(path) was not closed before the machine stopped; it needs recovery"
    case .otherDurability: "\(path) has another durability: \(detail)"
    case .busy: "\(path): another process or thread is opening or closing the store\(details)"
    case .inUse: "\(path) is open in another process\(details), and this process may only read it"
    case .locksLost: "a process that has \(path) open has lost its locks\(details)"
    case .replaced: "\(path) was replaced while this process has the former store there open"
    case .stillClosing: "\(path) was closed in this process, but a read of it continues"
    case .notCreated: "a store cannot be created at \(path)\(because)"
    case .system: "\(path) cannot be opened\(because)\(details)"
    }
  }

  package var recoverySuggestion: String {
    switch kind {
    case .absent: "check the path, or allow the store to be created"
    case .absentParent: "create that directory first"
    case .danglingLink: "create that directory, or remove the link"
    case .invalidPath: "rename the directory so that its whole path is valid UTF-8"
    case .notADirectory: "name the directory that holds data.mdb"
    case .notAFile, .linked:
      "replace it by a regular file with one name; with a link two processes miss each other's locks"
    case .foreignOwner:
      "open it as that user, or read it with `allowsForeignOwner` (larder --allow-foreign-owner)"
    case .exposed: "chmod go-rwx \(path.shellWord)"
    case .networkFileSystem: "put the store on a local disk"
    case .exists: "name a path that does not exist"
    case .notEmpty: "name a new or an empty directory"
    case .notLMDB, .foreign: "name a directory that holds a Larder store, or a new one"
    case .damaged, .truncated:
      "copy everything readable into a new store: larder STORE salvage NEW; or move it away: a cache fills again"
    case .needsRecovery:
      "open it once with permission to write; from read-only media, copy it to a disk first"
    case .otherDurability:
      "open it without a durability or with its own; to change it, close it in every process"
    case .busy: "try again, or check whether that process is stopped"
    case .inUse: "close it in that process, or read it as a user with permission to write"
    case .locksLost:
      "close the store in every process, then open it again; a program opened and closed lock.mdb, or deleted a lock file"
    case .replaced: "close the store that this process opened there, then open it again"
    case .stillClosing: "end that read, then open it again"
    case .notCreated:
      switch cause {
      case .diskFull?: "free space on the disk, then create it again"
      case .fileTooLarge?: "allow the process larger files (ulimit -f), then create it again"
      default: suggestionOfCause
      }
    case .system: suggestionOfCause
    }
  }

  private var suggestionOfCause: String { cause?.recoverySuggestion ?? "see the message" }
}
