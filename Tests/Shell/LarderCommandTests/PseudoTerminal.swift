import Foundation

/// A program on a terminal of its own. Tests type keys and read the screen.
@safe final class PseudoTerminal {
  private let controller: Int32
  private let process: pid_t
  private var exitStatus: Int32?
  var screen: Screen
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// - Parameter blocked: The signals that are blocked when the program starts.
  init(
    running program: String, _ arguments: [String] = [], environment: [String: String],
    columns: Int = 80, rows: Int = 24, blocking blocked: [Int32] = []
  ) throws {
    var controller: Int32 = -1
    var device: Int32 = -1
    guard unsafe openpty(&controller, &device, nil, nil, nil) == 0 else {
      throw Failure(description: "no pseudo-terminal: errno \(errno)")
    }
    defer { close(device) }
    var name = [CChar](repeating: 0, count: 128)
    guard unsafe ttyname_r(device, &name, name.count) == 0 else {
      throw Failure(description: "a terminal without a name: errno \(errno)")
    }
    _ = fcntl(device, F_SETFD, FD_CLOEXEC)
    _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
    Self.setSize(of: controller, columns: columns, rows: rows)
    self.controller = controller
    screen = Screen(columns: columns, rows: rows)
    do {
      process = try Self.spawn(program, arguments, environment, on: name, blocking: blocked)
    } catch {
      close(controller)
      throw error
    }
  }

  deinit {
    if exitStatus == nil {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    close(controller)
  }

  func type(_ text: String) throws { try type(bytes: Array(text.utf8)) }

  func type(bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = Array(rest)
      let count = unsafe write(controller, part, part.count)
      guard count > 0 else { throw Failure(description: "cannot type: errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  func resize(columns: Int, rows: Int) {
    screen.resize(columns: columns, rows: rows)
    Self.setSize(of: controller, columns: columns, rows: rows)
  }

  func shows(within limit: Duration = .seconds(60), _ isAsAsked: (Screen) -> Bool) -> Bool {
    let deadline = ContinuousClock.now + limit
    while !isAsAsked(screen) {
      let left = deadline - .now
      guard left > .zero, readMore(within: left) else { return isAsAsked(screen) }
    }
    return true
  }

  /// Waits for the end of the program. Returns its exit status, or the negative number of the signal that ended the program.
  func waitForExit(within limit: Duration = .seconds(60)) throws -> Int32 {
    _ = shows(within: limit) { _ in false }
    let deadline = ContinuousClock.now + limit
    while exitStatus == nil {
      var status: Int32 = 0
      if unsafe waitpid(process, &status, WNOHANG) == process {
        exitStatus = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
      } else if ContinuousClock.now > deadline {
        throw Failure(description: "the program goes on")
      } else {
        usleep(1_000)
      }
    }
    return exitStatus!
  }

  /// Whether the terminal itself collects typed keys into lines. A shell expects this state after the end of a program.
  var isCanonical: Bool {
    var state = termios()
    return unsafe tcgetattr(controller, &state) == 0 && state.c_lflag & tcflag_t(ICANON) != 0
  }

  func send(_ signal: Int32) { kill(process, signal) }

  /// Reads from the terminal. Returns false if no byte came in time, or if the program has closed the terminal.
  private func readMore(within limit: Duration) -> Bool {
    var polled = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&polled, 1, Int32(limit / .milliseconds(1)))
    guard ready > 0 else { return ready < 0 && errno == EINTR }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(controller, &bytes, bytes.count)
    guard count > 0 else { return false }
    screen.feed(Array(bytes[..<count]))
    let replies = screen.replies
    screen.replies = []
    return replies.isEmpty || (unsafe write(controller, replies, replies.count)) > 0
  }

  private static func setSize(of descriptor: Int32, columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String: String], on device: [CChar],
    blocking blocked: [Int32]
  ) throws -> pid_t {
    #if canImport(Glibc)
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #else
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that a session leader opens becomes the terminal of its session, so the program gets this terminal.
    unsafe posix_spawn_file_actions_addopen(&actions, 0, device, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    // Closes other descriptors. Otherwise the program would keep pipes of other tests open, and no reader would see an end.
    #if canImport(Glibc)
      for descriptor: Int32 in 3..<1_024 {
        unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
      }
    #endif

    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in blocked { unsafe sigaddset(&signals, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
    unsafe posix_spawnattr_setflags(&attributes, flags)

    let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    let settings = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe settings.indices { unsafe free(settings[index]) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, program, &actions, &attributes, words, settings)
    guard code == 0 else { throw Failure(description: "cannot run \(program): errno \(code)") }
    return process
  }

  #if canImport(Glibc)
    private static let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID, a GNU addition
  #else
    private static let newSession = Int16(POSIX_SPAWN_SETSID | POSIX_SPAWN_CLOEXEC_DEFAULT)
  #endif
}
