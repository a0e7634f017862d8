import CLarderSystem

/// The descriptors 0 to 2 of a process.
package enum StandardDescriptors {
  /// Opens `/dev/null` for each standard descriptor that the parent process has closed.
  ///
  /// Otherwise the next file opened would get its number, and a message to standard error would overwrite that file.
  /// Reading standard input then finds its end, writing to standard output fails as before, and messages are discarded.
  /// Programs call this first; opening a store repeats it.
  package static func claim() throws(SystemError) {
    for number in Int32(0)...2 where larder_is_open(number) == 0 {
      // The system gives the lowest free number, and all lower ones are in use.
      let mode = number == 2 ? O_RDWR : O_RDONLY
      let opened = try checkErrno { unsafe larder_open("/dev/null", mode, 0) }
      if opened > 2 { close(opened) }
    }
  }
}
