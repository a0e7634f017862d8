import Testing

@testable import LarderCommand
@testable import ShellLanguage

@Suite struct SecretCommandTests {
  @Test(arguments: [
    ("set api_token hunter2", true),
    ("set --ttl 1h api_token hunter2", true),
    ("put @a --if-absent --until monday password x", true),
    ("set @tokens k v --ttl 1h", true),
    ("set k v --from password.txt", true),
    ("set k 'a token'", false),
    ("set --ttl 1h @a k 'a token' --if-absent", false),
    ("set --ttl=1h k token", false),
    ("get api_token", false),
    ("keys; set secret x", true),
    ("set db.pwd x", true), ("set k v --arg BEARER", true), ("set passphrase x", true),
    ("set access/7 x", true),
    // The names of secrets in any notation.
    ("set api-key x", true), ("set x-api-key x", true), ("set api.key x", true),
    ("set 'api key' x", true), ("set Pass-Word x", true), ("set private_key x", true),
    ("set jwt x", true), ("set my.otp x", true), ("set user/passcode x", true),
    ("set pin-7 x", true), ("set spinner x", false), ("set adopted x", false),
    // The names with escapes, or as bytes.
    (#"set api\x6bey x"#, true), (#"set "to\u{6B}en" x"#, true),
    ("set hex:6170696B6579 x", true), ("set b64:cGFzc3dk x", true),
    (#"set @"to\x6ben" k x"#, true), ("set hex:6170696B657 x", false),
    // In a mistyped command, it is unknown which word is the value.
    ("sett k token", true), ("'set' k token", true), ("API_TOKEN=x", true), ("kesy @a", false),
    ("set k token x", true), ("set k v w", false),
    // Words for another program.
    ("! curl -H 'Authorization: Bearer x' example.org", true), ("keys | mail --password x", true),
    ("! ls", false), ("keys @tokens | wc -l", false),
  ])
  func `the name of a secret is found wherever it stands`(line: String, isSecret: Bool) {
    #expect(SecretCommand.matches(Array(line.utf8)) == isSecret, "\(line)")
  }
}
