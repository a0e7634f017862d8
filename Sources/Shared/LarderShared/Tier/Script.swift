import Larder
import Synchronization

/// A program in Lua that the server runs in one step. `KEYS` begins with the log and the head if the script uses them.
struct Script: Sendable {
  let name: String
  let source: String

  private init(_ name: String, _ body: String) {
    self.name = name
    source = Self.common + body
  }

  /// `announce` writes a record with one field into the log. Returns the ID and the new head: the ID, and a digest of the record
  /// and all earlier records. A word for a position has 20 bits for the sequence in an ID. When the bits are used up, the log
  /// continues in the next millisecond. If the server's clock was set back, the log continues in the millisecond of its newest
  /// record. `stamp` packs a version and a time like `ValueStamp`, and notes the time in `KEYS[5]`. `isOlder` compares IDs.
  private static let common = """
    local function parts(id)
      local first, second = string.match(id, '^(%d+)-(%d+)')
      return tonumber(first), tonumber(second)
    end
    local function announce(length, kind, name, key)
      local head = redis.call('GET', KEYS[2]) or ''
      local digest = string.sub(
        redis.sha1hex(head .. ' ' .. kind .. ' ' .. #name .. ' ' .. name .. key), 1, 12)
      local previous = string.match(head, '%x+$') or '-'
      local change = table.concat({kind, digest, previous, #name, name .. key}, ' ')
      local first, second = parts(head)
      local id
      if second and second >= 1048574 then
        local next = string.format('%.0f-0', first + 1)
        id = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', length, next, 'c', change)
      end
      if type(id) ~= 'string' then
        id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', length, '*', 'c', change)
      end
      head = id .. ' ' .. digest
      redis.call('SET', KEYS[2], head)
      return id, head
    end
    local function isOlder(left, right)
      local a, b = parts(left)
      local c, d = parts(right)
      return a < c or (a == c and b < d)
    end
    local function now()
      local time = redis.call('TIME')
      return time[1] * 1000000 + time[2]
    end
    local function stamp(id, time)
      redis.call('SET', KEYS[5], time)
      local first, second = parts(id)
      return struct.pack('>I8I8I8', first, second, time)
    end

    """

  /// `KEYS`: log, head, value, lease, time. `ARGV`: length of the log, namespace, key, frame, lifetime. Returns the record's ID.
  static let set = Script(
    "set",
    """
    local id = announce(ARGV[1], 'set', ARGV[2], ARGV[3])
    redis.call('SET', KEYS[3], stamp(id, now()) .. ARGV[4], 'PX', ARGV[5])
    redis.call('DEL', KEYS[4])
    return id
    """)

  /// `KEYS`: log, head, value, lease. `ARGV`: length of the log, namespace, key. Returns the ID of the record.
  static let remove = Script(
    "remove",
    """
    redis.call('DEL', KEYS[3], KEYS[4])
    local id = announce(ARGV[1], 'remove', ARGV[2], ARGV[3])
    return id
    """)

  /// `KEYS`: log, head, floor. `ARGV`: length of the log, `clear` or `invalidate`, name, lifetime of the floor or nothing.
  /// Returns the ID, which becomes the floor: values with older versions are invalid.
  static let raiseFloor = Script(
    "floor",
    """
    local id = announce(ARGV[1], ARGV[2], ARGV[3], '')
    if ARGV[4] == '' then redis.call('SET', KEYS[3], id)
    else redis.call('SET', KEYS[3], id, 'PX', ARGV[4]) end
    return id
    """)

  /// `KEYS`: log, head, a key that never exists. `ARGV`: an ID. Returns the head and the record with the ID; false for a missing
  /// head or record. The script deletes the third key only so that a replica refuses the script, because its head may be old.
  static let look = Script(
    "look",
    """
    redis.call('DEL', KEYS[3])
    local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])
    return {redis.call('GET', KEYS[2]), found[1] or false}
    """)

  /// `KEYS`: log, head. `ARGV`: length of the log. Returns the newest record with its ID. Writes a first record if the
  /// log lacks the head's record, or has later records of another program.
  static let newest = Script(
    "newest",
    """
    local head = redis.call('GET', KEYS[2])
    local id = head and string.match(head, '^%d+-%d+')
    local found = id and redis.call('XRANGE', KEYS[1], id, '+', 'COUNT', 2) or {}
    if #found ~= 1 or found[1][1] ~= id then
      id = announce(ARGV[1], 'begin', '', '')
      found = redis.call('XRANGE', KEYS[1], id, id)
    end
    return found[1]
    """)

  /// `KEYS`: log, head, value, lease. `ARGV`: length of the log, rejected stamp or nothing, token, length of the lease. Returns
  /// 1 for a changed value, 2 and the head for a granted lease, 3 and the time left for a held lease. No lease exceeds an hour.
  /// If more time is left, the server's clock was set back since the lease was granted, so the lease gets a new end.
  static let acquire = Script(
    "acquire",
    """
    local found = redis.call('GETRANGE', KEYS[3], 0, 23)
    if #found == 24 and found ~= ARGV[2] then return {1} end
    local head = redis.call('GET', KEYS[2])
    if not head then
      local id
      id, head = announce(ARGV[1], 'begin', '', '')
    end
    if redis.call('SET', KEYS[4], ARGV[3], 'NX', 'PX', ARGV[4]) then return {2, head} end
    local left = redis.call('PTTL', KEYS[4])
    if left > 3600000 then
      redis.call('PEXPIRE', KEYS[4], ARGV[4])
      left = tonumber(ARGV[4])
    end
    return {3, left}
    """)

  /// `KEYS`: log, head, value, lease, time, floors. `ARGV`: length of the log, token, head when the lease was granted, frame,
  /// lifetime. Returns the stamp, or nothing if the lease is gone or a floor has risen. If the clock was set back after the
  /// last value was stored, the new value would have an earlier time. So a further record gives the new value a newer version.
  static let fill = Script(
    "fill",
    """
    if redis.call('GET', KEYS[4]) ~= ARGV[2] then return false end
    redis.call('DEL', KEYS[4])
    local head = redis.call('GET', KEYS[2])
    if not head then return false end
    for index = 6, #KEYS do
      local floor = redis.call('GET', KEYS[index])
      if floor and isOlder(ARGV[3], floor) then return false end
    end
    local time = now()
    local last = redis.call('GET', KEYS[5])
    if last and time < tonumber(last) then head = announce(ARGV[1], 'begin', '', '') end
    local version = stamp(head, time)
    redis.call('SET', KEYS[3], version .. ARGV[4], 'PX', ARGV[5])
    return version
    """)

  /// `KEYS`: lease. `ARGV`: token, length; a length of 0 ends the lease. Returns 1, or 0 if the lease is gone.
  static let renew = Script(
    "renew",
    """
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
    """)
}

/// Runs scripts by their digests; sends the source of a script that the server does not know.
final class ScriptRunner: Sendable {
  private let sender: any CommandSender
  /// The digests by the scripts' names. The server computes the digests, so the client needs no SHA-1.
  private let digests = Mutex<[String: [UInt8]]>([:])

  init(_ sender: any CommandSender) { self.sender = sender }

  func run(
    _ script: Script, _ keys: [[UInt8]], _ arguments: [[UInt8]], timeout: Duration
  ) async throws(LarderError) -> Reply {
    let words = [Array(String(keys.count).utf8)] + keys + arguments
    func command(_ name: String, _ script: [UInt8]) -> Command {
      Command([Array(name.utf8), script] + words, timeout: timeout)
    }
    if let digest = digests.withLock({ $0[script.name] }) {
      let reply = try await sender.send(command("EVALSHA", digest))
      guard case .failure(let message) = reply, message.hasPrefix("NOSCRIPT") else { return reply }
    }
    let reply = try await sender.send(command("EVAL", Array(script.source.utf8)))
    if digests.withLock({ $0[script.name] }) == nil { await learnDigest(of: script, timeout) }
    return reply
  }

  private func learnDigest(of script: Script, _ timeout: Duration) async {
    let words = ["EVAL", "return redis.sha1hex(ARGV[1])", "0", script.source]
    // The script itself has run. If this request fails, only the digest is missing, and the next run sends the source again.
    let reply = try? await sender.send(Command(words.map { Array($0.utf8) }, timeout: timeout))
    guard let digest = reply?.bytes, digest.count == 40 else { return }
    digests.withLock { $0[script.name] = digest }
  }
}
