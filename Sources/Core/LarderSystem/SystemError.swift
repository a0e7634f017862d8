import CLarderSystem

/// An `errno` value in one number, so the read path throws errors fast. The LMDB target adds negative codes and messages.
@usableFromInline package struct SystemError: Error, Equatable {
  @usableFromInline package let code: Int32

  @inlinable package init(code: Int32) { self.code = code }

  package static var last: SystemError { SystemError(code: larder_errno()) }

  package static let diskFull = SystemError(code: ENOSPC)
  /// The quota of a user, a group or a directory is used up.
  package static let quotaReached = SystemError(code: EDQUOT)
  /// The file would exceed the largest file size that is allowed for the process (`ulimit -f`).
  package static let fileTooLarge = SystemError(code: EFBIG)
  package static let inputOutput = SystemError(code: EIO)

  // Codes of this target; LMDB's own codes are -30799...-30780.
  package static let busy = SystemError(code: -31_003)
  package static let replaced = SystemError(code: -31_005)
  package static let noBootIdentity = SystemError(code: -31_026)
}

/// Turns a C result other than 0 into an error.
@inlinable @inline(__always)
package func check(_ result: Int32) throws(SystemError) {
  if result != 0 { throw SystemError(code: result) }
}

/// Repeats a call as long as signals interrupt it. If the result is -1, throws the error in `errno`.
@discardableResult
package func checkErrno<Result: FixedWidthInteger>(
  _ call: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = call()
    if result != -1 { return result }
    if larder_errno() != EINTR { throw .last }
  }
}

extension String {
  /// The text as one word of an `sh` command, quoted unless each character is plain in `sh`.
  package var shellWord: String {
    let isPlain = utf8.allSatisfy { byte in
      byte >= 0x80 || byte.isLetter || byte.isDigit || "/._-+=:@%,".utf8.contains(byte)
    }
    if isPlain, !isEmpty { return self }
    // A quote with a combining mark is one character, but `sh` sees the quote. So each scalar is compared.
    return "'" + unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
