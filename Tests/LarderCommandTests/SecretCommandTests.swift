import Testing

@testable import LarderCommand

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
  ])
  func `the name of a secret is found wherever it stands`(line: String, isSecret: Bool) {
    #expect(SecretCommand.matches(Array(line.utf8)) == isSecret, "\(line)")
  }
}
